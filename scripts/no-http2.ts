/** Stands for node:http2 in the bundle: undici reads its constants when it is loaded, and nothing of it later. */
export const constants = {};
