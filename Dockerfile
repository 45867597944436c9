# One image runs the API and every worker pool; the command selects which. The checks of .ci/run pass on this Node version.
ARG NODE_VERSION=24.21
FROM node:${NODE_VERSION}-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY api api
COPY web web
COPY workers workers
COPY shared shared
COPY cli cli
COPY docs docs
# The build bundles npm run listen into a file for partners.
COPY dev dev
RUN npm run build

FROM node:${NODE_VERSION}-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force
COPY --from=build /app/dist dist
COPY docs docs
# The tag of the image names a version, and the build fails if the files are of another one. The processes read the version and the
# commit from package.json.
ARG VERSION
ARG COMMIT
RUN npm pkg set "gitHead=$COMMIT" && \
  if [ "$(npm pkg get version)" != "\"$VERSION\"" ]; then echo "build with VERSION=$(npm pkg get version)" >&2; exit 1; fi
LABEL org.opencontainers.image.title="Ride Partner API" \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$COMMIT"
USER node
EXPOSE 4100
CMD ["node", "dist/api/main.js"]
