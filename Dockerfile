# The worker in an image without compiler, npm packages to build with, or root. One volume, /data, holds the database:
#
#   docker build --tag league-sync .
#   docker run --init --read-only --volume leagues:/data --env-file .env league-sync
#
# Everything else of the file system may be read-only. For amd64 and arm64 alike; docs/deployment.md says more.

ARG BASE=node:24-bookworm-slim
# That of package.json, or the build fails: a label cannot be read from a file.
ARG VERSION=0.1.0

FROM ${BASE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
ARG VERSION
RUN node --eval 'const { version } = require("./package.json"); \
  if (version !== process.argv[1]) throw new Error(`VERSION in the Dockerfile is ${process.argv[1]}, in package.json ${version}`)' \
  "$VERSION"
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

# Proves that what was copied runs, and keeps what V8 compiled of it: a read-only root has no place for that later, and
# each start, and each health check, would take longer.
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
# A number, so that an orchestrator can see that it is not root. /data belongs to it, and so does /published, where a copy
# for readers may go (LEAGUE_SYNC_PUBLISH); a new volume takes that over.
# The link is for people: docker exec CONTAINER league-sync status.
RUN mkdir --mode 0755 /data /published && chown 10001:10001 /data /published \
  && ln -s /app/dist/league-sync.cjs /usr/local/bin/league-sync
COPY --from=build /image /app
# Root's, so that nothing can be put into it.
COPY --from=compiled --chown=0:0 /compile-cache /compile-cache
# All addresses, or a published port would lead nowhere. Those of IPv4, which are there also where IPv6 is switched off.
ENV NODE_ENV=production \
  TZ=UTC \
  LEAGUE_SYNC_DATABASE=/data/leagues.db \
  LEAGUE_SYNC_LISTEN=0.0.0.0:9464 \
  LEAGUE_SYNC_LOG_FORMAT=json \
  NODE_COMPILE_CACHE=/compile-cache
USER 10001:10001
# Where commands may write: docker run IMAGE demo.
WORKDIR /data
VOLUME /data
EXPOSE 9464
# The probe gives up by itself after 5 s. Its answer is about the process alone: what ails the service is no reason to
# start anew. A worker without a door (LEAGUE_SYNC_LISTEN=off) cannot be asked; switch this off with it.
HEALTHCHECK --interval=30s --timeout=10s --start-period=30s --retries=3 CMD ["league-sync", "status", "--probe"]
ENTRYPOINT ["league-sync"]
CMD ["run"]
