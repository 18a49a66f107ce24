import { hash } from 'node:crypto';

/** SHA-256 in base64url, 43 characters: no two texts share one by chance. */
export function hashOf(data: string | Uint8Array): string {
  return hash('sha256', data, 'base64url');
}
