/** One `host:port` that the status page, the probes and the metrics are served on. */
export type ListenAddress = {
  readonly host: string;
  readonly port: number;
  /** Whether any free port will do where another program has this one. */
  readonly orAnyPort?: boolean;
};

export const DEFAULT_LISTEN = '127.0.0.1:9464';
/** What to write instead of an address that cannot be read. */
export const LISTEN_FIX = 'write an address such as 127.0.0.1:9464 or [::1]:9464, or off';

/** Reads `host:port`, `[IPv6]:port` or `off`; undefined for anything else. */
export function parseListen(text: string): ListenAddress | 'off' | undefined {
  if (text === 'off') return 'off';
  const match = /^(?:\[([0-9a-fA-F:.]+)\]|([^\s:[\]]+)):(\d{1,5})$/.exec(text);
  const port = Number(match?.[3]);
  const host = match?.[1] ?? match?.[2];
  return host !== undefined && port <= 65_535 ? { host, port } : undefined;
}

/** The address as it stands in a URL. */
export function formatAddress({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}
