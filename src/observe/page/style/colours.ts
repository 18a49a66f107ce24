/** Paper is always light. Names ending in `-text` are for text and have a contrast of 4.5:1; the others are for shapes and have 3:1. */
export const COLOURS = `
:root {
  color-scheme: light dark;
  --ground: #f6f7f9; --card: #ffffff; --line: #e1e5ea; --text: #16191d; --muted: #57606a; --link: #0b5cad; --field: #6b7580;
  --good-text: #1a7f37; --good: #2a9d4b; --good-ground: #eaf6ee;
  --warn-text: #845600; --warn: #bf8700; --warn-ground: #fff6e0;
  --bad-text: #b3261e; --bad: #cf222e; --bad-ground: #fdf0ef;
  --idle: #7c96b3; --took: #a9bdd3; --none: #d3d9e0;
  --heat-0: #eceff3; --heat-1: #b9dfc4; --heat-2: #6fbd88; --heat-3: #2f8f52; --heat-4: #0f5229;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #0d1117; --card: #151b23; --line: #2a323d; --text: #e6eaef; --muted: #9ea9b5; --link: #79b8ff; --field: #78838f;
    --good-text: #56c271; --good: #3fb950; --good-ground: #10261a;
    --warn-text: #e3b341; --warn: #d29922; --warn-ground: #2b2108;
    --bad-text: #ff8f87; --bad: #f85149; --bad-ground: #2d1413;
    --idle: #6c86a3; --took: #3d566f; --none: #333d49;
    --heat-0: #1d242d; --heat-1: #17432a; --heat-2: #23703f; --heat-3: #36a05a; --heat-4: #7ee2a0;
  }
}
`;
