# One image runs the API and every worker pool; the command selects which. The checks of .ci/run pass on this Node version.
ARG NODE_VERSION=24.21
FROM node:${NODE_VERSION}-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY api api
COPY workers workers
COPY shared shared
COPY cli cli
COPY docs docs
RUN npm run build

FROM node:${NODE_VERSION}-slim
ENV NODE_ENV=production
WORKDIR /app
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --ignore-scripts && npm cache clean --force
COPY --from=build /app/dist dist
COPY docs docs
USER node
EXPOSE 4100
CMD ["node", "dist/api/main.js"]
