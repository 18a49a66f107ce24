// Replaces undici in the bundle by the parts of it that send requests. Its index also loads fetch, WebSocket, caches and
// mocks, which costs every start 50 ms of 340.
import api from '../node_modules/undici/lib/api/index.js';
import Agent from '../node_modules/undici/lib/dispatcher/agent.js';
import Dispatcher from '../node_modules/undici/lib/dispatcher/dispatcher.js';
import ProxyAgent from '../node_modules/undici/lib/dispatcher/proxy-agent.js';

// As its index does: what sends is the same for every way, and a proxy is connected to by it, too.
Object.assign(Dispatcher.prototype, api);

export { Agent, ProxyAgent };

/** As undici's own, of a whole address and with a dispatcher. */
export function request(address, { dispatcher, ...options }) {
  const { origin, pathname, search } = new URL(address);
  return dispatcher.request({ ...options, origin, path: pathname + search });
}
