import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { createServer as createTlsServer } from 'node:tls';
import { makeFolder } from './folder.ts';
import { couple, openPort, type Port } from './port.ts';

/** The certificate of a TLS server and its private key; both as PEM. */
export type Certificate = { readonly cert: string; readonly key: string };

type CertificateOptions = {
  /** As OpenSSL writes them, such as `DNS:localhost,IP:127.0.0.1`. */
  readonly names: string;
  /** The first and the last day of validity, relative to today; negative ones are in the past. */
  readonly from?: number;
  readonly until?: number;
};

/** A certificate authority that is trusted only if configured. */
export type Authority = ReturnType<typeof makeAuthority>;

/** The fastest kind of key. */
const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
const DAY_MS = 86_400_000;

/** The configuration of `openssl ca`, the only command of every OpenSSL 3 with a start date. */
const CONFIG = `[ca]
default_ca = authority
[authority]
database = issued.txt
new_certs_dir = .
policy = names
default_md = sha256
rand_serial = yes
unique_subject = no
[names]
commonName = supplied
`;

/** Why certificates cannot be made here; undefined if they can. */
export function noCertificates(): string | undefined {
  return spawnSync('openssl', ['version']).status === 0 ? undefined : 'openssl is not here';
}

/** Creates an authority in a temporary folder. */
export function makeAuthority() {
  const { path: folder } = makeFolder();
  writeFileSync(join(folder, 'ca.cnf'), CONFIG);
  writeFileSync(join(folder, 'issued.txt'), '');
  openssl(folder, ['req', '-x509', ...NEW_KEY, '-subj', '/CN=Authority', '-keyout', 'ca.key', '-out', 'ca.pem']);
  let issued = 0;
  return {
    /** Its own certificate, as NODE_EXTRA_CA_CERTS takes it. */
    file: join(folder, 'ca.pem'),
    issue: (options: CertificateOptions): Certificate => {
      issued += 1;
      return issue(folder, String(issued), options);
    },
  };
}

function issue(folder: string, name: string, { names, from = -1, until = 1 }: CertificateOptions): Certificate {
  const [key, request, cert, extensions] = [`${name}.key`, `${name}.csr`, `${name}.pem`, `${name}.cnf`];
  writeFileSync(join(folder, extensions), `subjectAltName=${names}\n`);
  openssl(folder, ['req', ...NEW_KEY, '-subj', '/CN=Service', '-keyout', key, '-out', request]);
  const authority = ['-config', 'ca.cnf', '-cert', 'ca.pem', '-keyfile', 'ca.key', '-batch', '-notext'];
  const life = ['-startdate', formatDay(from), '-enddate', formatDay(until)];
  openssl(folder, ['ca', ...authority, ...life, '-extfile', extensions, '-in', request, '-out', cert]);
  return readPair(folder, cert, key);
}

function openssl(cwd: string, args: readonly string[]): void {
  execFileSync('openssl', args, { cwd, stdio: 'pipe' });
}

function readPair(folder: string, cert: string, key: string): Certificate {
  return { cert: readFileSync(join(folder, cert), 'utf8'), key: readFileSync(join(folder, key), 'utf8') };
}

/** A timestamp as in ASN.1: digits and a Z. */
function formatDay(days: number): string {
  const timestamp = new Date(Date.now() + days * DAY_MS).toISOString();
  return `${timestamp.slice(0, 19).replaceAll(/\D/g, '')}Z`;
}

/** Speaks TLS in front of a service that speaks plain HTTP, as a load balancer does. Ends with the test. */
export function startTls(serviceUrl: string, { cert, key }: Certificate): Promise<Port> {
  const port = Number(new URL(serviceUrl).port);
  return openPort(createTlsServer({ cert, key }, (client) => couple(client, connect(port, '127.0.0.1'))));
}

/** Accepts connections and never responds. Ends with the test. */
export function startSilence(): Promise<Port> {
  return openPort(createServer((client) => client.resume()));
}
