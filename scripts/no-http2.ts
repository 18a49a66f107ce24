// Stands for node:http2 in the bundle, which nothing here speaks. undici reads its constants when it is loaded.
export const constants = {};
