import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { LEAGUE_FIELDS } from '../../src/league/response-schemas.ts';
import { type Simulator, startSimulator } from '../../src/simulator/simulator.ts';

// What docs/interface.md shows is what the simulated service takes and answers.

const page = readFileSync('docs/interface.md', 'utf8');

type Example = { readonly heading: string; readonly request: string; readonly answer: string };

/** The request and the answer under each heading that has both. */
const EXAMPLES: readonly Example[] = page.split('\n### ').flatMap((section) => {
  const [request, answer] = [...section.matchAll(/^```text\n([\s\S]*?)^```$/gm)].map(([, text = '']) => text);
  return request === undefined || answer === undefined
    ? []
    : [{ heading: section.split('\n', 1)[0] ?? '', request, answer }];
});

type Message = { readonly first: string; readonly headers: Readonly<Record<string, string>>; readonly body: string };

function readMessage(text: string): Message {
  const [head = '', body = ''] = text.trimEnd().split('\n\n');
  const [first = '', ...lines] = head.split('\n');
  return { first, headers: Object.fromEntries(lines.map((line) => line.split(': ', 2))), body };
}

async function send(request: string, { url }: Simulator, token: string): Promise<Response> {
  const { first, headers, body } = readMessage(request.replace('{base_url}', url).replace('<ACCESS_TOKEN>', token));
  const [method = '', address = ''] = first.split(' ');
  return fetch(address, { method, headers, ...(body === '' ? {} : { body }) });
}

async function takeToken(simulator: Simulator): Promise<string> {
  const answer: unknown = await (await send(EXAMPLES[0]?.request ?? '', simulator, '')).json();
  return String(Object(answer).access_token);
}

/** Replaces the values that differ between runs: tokens and current timestamps. */
function shapeOf(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value), (key, one: unknown) =>
    /^(access_token|refresh_token|expire_datetime|timestamp)$/.test(key) ? `<${key}>` : one,
  );
}

describe('the page on the interface', () => {
  it('has an example of each request, and of a failure', () => {
    expect(EXAMPLES.map(({ heading }) => heading)).toEqual([
      'Log in',
      'List the leagues',
      'Show the profile',
      'A failure',
    ]);
  });

  it.each(EXAMPLES)('shows what is answered: $heading', async ({ request, answer }) => {
    await using simulator = await startSimulator();
    const response = await send(request, simulator, await takeToken(simulator));
    const shown = readMessage(answer);
    expect(`${response.status} ${response.statusText}`).toBe(shown.first);
    for (const name of Object.keys(shown.headers)) expect(response.headers.get(name), name).not.toBeNull();
    expect(response.headers.get('content-type')).toBe(shown.headers['Content-Type']);
    const body = Object(await response.json());
    // Only one league is compared.
    const sent = Array.isArray(body.leagues) ? { ...body, leagues: body.leagues.slice(0, 1) } : body;
    expect(shapeOf(JSON.parse(shown.body))).toEqual(shapeOf(sent));
  });

  it('names every field of a league with its type and whether it is required', () => {
    const section = page.split('\n### List the leagues\n')[1]?.split('\n### ')[0] ?? '';
    const rows = [...section.matchAll(/^\| (`.+?) \| (\S+?),? .*?\| (required|optional)/gm)];
    const shown = rows.flatMap(([, names = '', type, presence]) =>
      [...names.matchAll(/`(\w+)`/g)].map(([, name]) => `${name}: ${type}, ${presence}`),
    );
    const TYPES = { text: 'string', number: 'number', flag: 'boolean', json: 'list', scalar: 'any' };
    const declared = LEAGUE_FIELDS.map(
      ({ name, type, presence }) => `${name}: ${TYPES[type]}, ${presence === 'optional' ? 'optional' : 'required'}`,
    );
    expect(shown.sort()).toEqual(declared.sort());
  });
});
