# The image of proviso: one static binary and certificates, no shell, not root. What it writes
# is below /data and /tmp, so that the rest of its file system can be read-only:
#
#     docker run --read-only --tmpfs /tmp -v proviso:/data -p 8080:8080 proviso
#
# It has no interpreters, so suites with scripts in Python, Ruby or Node give errors in it.
FROM golang:1.26 AS build
WORKDIR /src
COPY go.mod go.sum ./
RUN go mod download
COPY . .
ARG VERSION=devel
RUN CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$VERSION" -o /out/proviso ./cmd/proviso
RUN mkdir -p /out/data /out/tmp && chmod 1777 /out/tmp && chown 65532:65532 /out/data

FROM scratch
COPY --from=build /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=build /out/ /
USER 65532:65532
ENV HOME=/data XDG_STATE_HOME=/data/state XDG_CACHE_HOME=/data/cache TMPDIR=/tmp
VOLUME ["/data", "/tmp"]
EXPOSE 8080
ENTRYPOINT ["/proviso"]
CMD ["serve", "--addr", "0.0.0.0:8080"]
