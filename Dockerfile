# The worker in an image without a compiler, build packages or root. One volume, /data, holds the database:
#
#   docker build --tag league-sync .
#   docker run --init --read-only --volume leagues:/data --env-file .env league-sync
#
# The rest of the file system may be read-only. Builds for amd64 and arm64; see docs/deployment/containers.md.

ARG BASE=node:24-bookworm-slim
# Must equal the version in package.json, or the build fails: a label cannot be read from a file.
ARG VERSION=0.2.0

FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
ARG VERSION
RUN node --eval 'const { version } = require("./package.json"); \
  if (version !== process.argv[1]) throw new Error(`VERSION in the Dockerfile is ${process.argv[1]}, in package.json ${version}`)' \
  "$VERSION"
# The bundler and the database addon contain their binaries; no install script is needed.
RUN npm ci --ignore-scripts
COPY tsconfig.json ./
COPY scripts scripts
COPY src src
RUN node scripts/build.ts
# Copies only the parts of the addon that are loaded: no C sources, no binaries for other systems.
RUN addon=node_modules/better-sqlite3 \
  && mkdir -p "/image/$addon/prebuilds" \
  && cp -r "$addon/lib" "$addon/package.json" "$addon/LICENSE" "/image/$addon/" \
  && cp "$addon/prebuilds/linux-$(node --print process.arch).node" "/image/$addon/prebuilds/"
COPY migrations /image/migrations
RUN cp -r dist package.json /image/

# Proves that the copied files run, and fills Node's compile cache. A read-only root cannot store that later, and each
# start and health check would take longer.
FROM ${BASE} AS compiled
COPY --from=build /image /app
RUN mkdir /compile-cache && chown 10001:10001 /compile-cache
USER 10001:10001
ENV NODE_COMPILE_CACHE=/compile-cache
WORKDIR /tmp
RUN node /app/dist/league-sync.cjs demo --for 1s && chmod -R a+rX,a-w /compile-cache

FROM ${BASE}
ARG VERSION
LABEL org.opencontainers.image.title="league-sync" \
  org.opencontainers.image.description="Keeps a sports service's leagues in a SQLite database that any tool can query." \
  org.opencontainers.image.licenses="MIT" \
  org.opencontainers.image.version="${VERSION}"
# The user is a number, so that an orchestrator can verify that it is not root. It owns /data, and /published for the
# readers' copy (LEAGUE_SYNC_PUBLISH); a new volume inherits the owner.
# The link is for people: docker exec CONTAINER league-sync status.
RUN mkdir --mode 0755 /data /published && chown 10001:10001 /data /published \
  && ln -s /app/dist/league-sync.cjs /usr/local/bin/league-sync
COPY --from=build /image /app
# Owned by root, so that the worker cannot change it.
COPY --from=compiled --chown=0:0 /compile-cache /compile-cache
# Listens on all addresses, or a published port would lead nowhere; on IPv4, which works even if IPv6 is disabled.
ENV NODE_ENV=production \
  TZ=UTC \
  LEAGUE_SYNC_DATABASE=/data/leagues.db \
  LEAGUE_SYNC_LISTEN=0.0.0.0:9464 \
  LEAGUE_SYNC_LOG_FORMAT=json \
  NODE_COMPILE_CACHE=/compile-cache
USER 10001:10001
# Writable, for commands such as: docker run IMAGE demo.
WORKDIR /data
VOLUME /data
EXPOSE 9464
# The probe gives up after 5 s. It tests only the process: a failing service is no reason to restart the worker. With
# LEAGUE_SYNC_LISTEN=off it always fails, so disable it then.
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 CMD ["league-sync", "status", "--probe"]
ENTRYPOINT ["league-sync"]
CMD ["run"]
