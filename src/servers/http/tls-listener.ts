import type { Endpoint } from '../../base/config/config.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Certificate, Certificates } from '../../ports/certificates/port.ts'

type Server = ReturnType<typeof Bun.serve>

export interface TlsListenerDeps {
  readonly listen: Endpoint
  readonly certificates: Certificates
  readonly idleSeconds: number
  readonly fetch: (request: Request, listener: Server) => Response | Promise<Response>
  readonly log: Log
}

export interface TlsListener {
  readonly port: number
  /** Takes no more requests, lets those under way end (at most `graceMs`), then cuts what is left. */
  close(graceMs: number): Promise<void>
}

/** How long a request may go on under a certificate that another has followed. */
const retiredMs = 3_600_000

/**
 * Serves HTTPS, TLS 1.2 and later, each name with its certificate; from the first one on. Bun.serve keeps the
 * certificates that it began with (`reload` changes none): with others another listener begins at the same port, and the
 * old one ends with the requests that it has.
 * @throws when somebody else listens there
 */
export function openTlsListener(deps: TlsListenerDeps): TlsListener {
  const { certificates, log } = deps
  const port = freePort(deps.listen)
  const retired = new Set<Server>()
  let serving: Server | undefined
  let isClosing = false

  function renew(): void {
    if (isClosing) return
    const shown = certificates.current()
    if (shown.length === 0) return
    const before = serving
    try {
      serving = begin(deps, port, shown)
    } catch (error) {
      log.error({ err: error }, 'HTTPS goes on with the certificates that it had')
      return
    }
    if (before) retire(before)
  }

  function retire(server: Server): void {
    retired.add(server)
    const timer = setTimeout(() => void server.stop(true), retiredMs)
    void server.stop().finally(() => {
      clearTimeout(timer)
      retired.delete(server)
    })
  }

  renew()
  certificates.onChange(renew)
  return {
    port,
    async close(graceMs) {
      isClosing = true
      const all = [...retired, ...(serving ? [serving] : [])]
      await Promise.race([Promise.all(all.map(each => each.stop())), Bun.sleep(graceMs)])
      await Promise.all(all.map(each => each.stop(true)))
    },
  }
}

function begin({ listen, idleSeconds, fetch }: TlsListenerDeps, port: number, shown: readonly Certificate[]): Server {
  return Bun.serve({
    hostname: listen.host,
    port,
    reusePort: true,
    tls: contexts(shown),
    idleTimeout: idleSeconds,
    development: false,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch,
  })
}

/** The first certificate for clients that name no host of ours, then one entry for each name. */
function contexts(shown: readonly Certificate[]) {
  const byName = new Map<string, Certificate>()
  for (const certificate of shown)
    for (const name of certificate.names) if (!byName.has(name)) byName.set(name, certificate)
  const [first] = shown
  return [
    ...(first ? [{ cert: first.chain, key: first.privateKey }] : []),
    ...[...byName].map(([serverName, { chain, privateKey }]) => ({ cert: chain, key: privateKey, serverName })),
  ]
}

/** The port, once it is certain that nobody listens there: listeners that share a port do not find each other in the way. */
function freePort({ host, port }: Endpoint): number {
  const probe = Bun.listen({ hostname: host, port, socket: { data() {} } })
  const found = probe.port
  probe.stop(true)
  return found
}
