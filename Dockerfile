# The worker in an image without compiler, npm packages to build with, or root. One volume, /data, holds the database:
#
#   docker run --read-only --volume leagues:/data --env-file .env league-sync
#
# Everything else of the file system may be read-only.

ARG BASE=node:24-bookworm-slim

FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
# The bundler and the database addon bring their binaries with them; no install script is needed.
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
RUN node scripts/build.ts
# Of the addon only what is loaded: not its C sources, not the binaries of other systems.
RUN addon=node_modules/better-sqlite3 \
  && mkdir -p "/image/$addon/prebuilds" \
  && cp -r "$addon/lib" "$addon/package.json" "$addon/LICENSE" "/image/$addon/" \
  && cp "$addon/prebuilds/linux-$(node --print process.arch).node" "/image/$addon/prebuilds/"
COPY migrations /image/migrations
RUN cp -r dist package.json /image/

FROM ${BASE}
# A number, so that an orchestrator can see that it is not root; /data belongs to it, and a new volume takes that over.
RUN mkdir --mode 0755 /data /compile-cache && chown 10001:10001 /data /compile-cache
COPY --from=build /image /app
ENV NODE_ENV=production \
  TZ=UTC \
  LEAGUE_SYNC_DATABASE=/data/leagues.db \
  LEAGUE_SYNC_LOG_FORMAT=json
USER 10001:10001
# Proves that what was copied runs, and keeps what V8 compiled of it: a read-only root has no place for that later, and
# each start would take a third longer.
ENV NODE_COMPILE_CACHE=/compile-cache
WORKDIR /tmp
RUN node /app/dist/league-sync.cjs demo --for 1s && rm -r demo-data && chmod -R a-w /compile-cache
WORKDIR /app
VOLUME /data
CMD ["node", "/app/dist/league-sync.cjs", "run"]
