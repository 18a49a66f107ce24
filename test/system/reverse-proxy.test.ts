import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { setUp } from '../support/bench.ts';
import { makeFolder } from '../support/folder.ts';
import { findFreePort } from '../support/port.ts';
import { serve } from '../support/status-server.ts';

const RECIPES = readFileSync(join(import.meta.dirname, '../../docs/deployment/reverse-proxy.md'), 'utf8');
const [OWN_NAME = '', BELOW_A_PATH = ''] = [...RECIPES.matchAll(/```nginx\n(.*?)```/gs)].map(([, text]) => text);
const READER = { username: 'reader', password: 'reader-password' };
const NO_NGINX = spawnSync('nginx', ['-v']).error === undefined ? undefined : 'there is no nginx';

beforeEach(({ skip }) => skip(NO_NGINX !== undefined, NO_NGINX));

/** A worker behind an nginx that is set up as the document says. */
async function serveBehind(recipe: string, host: string) {
  const { worker, url } = await serve(await setUp(), { LEAGUE_SYNC_ALLOWED_HOSTS: host });
  await worker.waitForPoll();
  const folder = makeFolder();
  const port = await findFreePort();
  const { stdout: hash } = spawnSync('openssl', ['passwd', '-apr1', READER.password], { encoding: 'utf8' });
  const users = folder.write('users', `reader:${hash}`);
  const server = recipe.startsWith('server') ? recipe : `server { listen 443 ssl; server_name ${host}; ${recipe} }`;
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${name};`);
  const config = folder.write(
    'nginx.conf',
    `daemon off; master_process off; pid nginx.pid; error_log stderr; events {} http { access_log off; ${paths.join(' ')}
${server
  .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
  .replace(/ssl_certificate\S* .*;/g, '')
  .replace('/etc/nginx/league-sync.htpasswd', users)
  .replace('http://127.0.0.1:9464', url)} }`,
  );
  const nginx = spawn('nginx', ['-p', folder.path, '-c', config], { stdio: 'ignore' });
  onTestFinished(() => void nginx.kill('SIGKILL'));
  const ask = (path: string, headers: Readonly<Record<string, string>> = AUTHORIZED) =>
    new Promise<{ readonly status: number; readonly location: string | undefined; readonly text: string }>(
      (resolve, reject) => {
        const asked = request({ host: '127.0.0.1', port, path, headers: { host, ...headers } }, (answer) => {
          let text = '';
          answer.setEncoding('utf8').on('data', (part) => {
            text += part;
          });
          answer.on('end', () => resolve({ status: answer.statusCode ?? 0, location: answer.headers.location, text }));
        });
        asked.on('error', reject).end();
      },
    );
  await expect.poll(() => ask('/').then(({ status }) => status > 0), { timeout: 20_000 }).toBe(true);
  return { ask };
}

const AUTHORIZED = {
  authorization: `Basic ${Buffer.from(`${READER.username}:${READER.password}`).toString('base64')}`,
};

const PAGES = ['', 'leagues', 'changes', 'changes?poll=1&kind=added', 'league?id=nothing', 'a/deep/path', 'leagues/'];

describe.each([
  ['on a name of its own', OWN_NAME, 'leagues.example.com', '/'],
  ['below a path', BELOW_A_PATH, 'www.example.com', '/sports/'],
])('the recipe for nginx, %s,', (_, recipe, host, base) => {
  it('leads every link, form, script and icon to what it names, also on the page that is not found', async () => {
    const { ask } = await serveBehind(recipe, host);
    const found = new Set<string>();
    for (const page of PAGES) {
      const { text } = await ask(base + page);
      const targets = [...text.matchAll(/(?:href|src|action)="([^#"]+)"/g)].map(([, target = '']) =>
        target.replaceAll('&amp;', '&'),
      );
      expect([page, targets.length > 10, targets.filter((target) => target.startsWith('/'))]).toEqual([page, true, []]);
      for (const target of targets) {
        const { pathname, search } = new URL(target, `http://${host}${base}${page}`);
        found.add(pathname + search);
      }
    }
    expect(found.size).toBeGreaterThan(100);
    for (const path of found)
      expect([path, path.startsWith(base), (await ask(path)).status]).toEqual([path, true, 200]);
    expect((await ask(`${base}a/deep/path`)).status).toBe(404);
  });

  it('asks for the password, and passes on the name', async () => {
    const { ask } = await serveBehind(recipe, host);
    expect((await ask(base, {})).status).toBe(401);
    expect((await ask(base, { ...AUTHORIZED, host: 'rebound.example' })).status).toBe(421);
    if (base !== '/') {
      const { status, location } = await ask('/sports');
      expect([status, new URL(location ?? '').pathname]).toEqual([301, '/sports/']);
    }
  });
});
