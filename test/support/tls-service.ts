import { connect, createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import type { Certificate } from './certificate.ts';
import { couple, openPort, type Port } from './port.ts';

/** Speaks TLS in front of a service that speaks plain HTTP, as a load balancer does. Ends with the test. */
export function startTls(serviceUrl: string, { cert, key }: Certificate): Promise<Port> {
  const port = Number(new URL(serviceUrl).port);
  return openPort(createTlsServer({ cert, key }, (client) => couple(client, connect(port, '127.0.0.1'))));
}

/** Accepts connections and never responds. Ends with the test. */
export function startSilence(): Promise<Port> {
  return openPort(createServer((client) => client.resume()));
}
