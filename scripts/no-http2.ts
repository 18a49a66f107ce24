// Stands for node:http2 in the bundle. Only undici wants it, which reads its constants when it is loaded, for HTTP/2,
// which is switched off; loading it costs 12 MB and 27 ms at every start.
export const constants = {};
