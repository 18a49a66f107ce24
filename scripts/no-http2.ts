// Stands for node:http2 in the bundle, which nothing here speaks. undici reads its constants when it is loaded, and
// @hono/node-server asks whether a request is one of HTTP/2.
export const constants = {};
export class Http2ServerRequest {}
