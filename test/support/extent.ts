/** How much a test that goes through many random cases tries: `few` by default, `many` with `TEST_ALL=1`. */
export function unlessAll(few: number, many: number): number {
  return process.env.TEST_ALL === '1' ? many : few;
}
