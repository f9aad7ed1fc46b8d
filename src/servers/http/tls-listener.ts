import { hourMs } from '../../base/clock.ts'
import type { Endpoint } from '../../base/config/config.ts'
import type { Log } from '../../base/observability/log.ts'
import type { Certificate, Certificates } from '../../ports/certificates/port.ts'
import { stopListener } from './requests-under-way.ts'

type Server = ReturnType<typeof Bun.serve>

export interface TlsListenerDeps {
  readonly listen: Endpoint
  readonly certificates: Certificates
  readonly idleSeconds: number
  readonly fetch: (request: Request, listener: Server) => Response | Promise<Response>
  readonly log: Log
  /** Do other processes listen on the same port? */
  readonly sharesPort?: boolean
}

export interface TlsListener {
  readonly port: number
  /** Accepts no more connections, lets the requests under way finish, and closes what is left once `drained` resolves. */
  close(drained: Promise<void>): Promise<void>
}

/** How long a request may go on after its certificate was replaced. */
const retiredMs = hourMs

/**
 * Serves HTTPS (TLS 1.2 and later), each name with its certificate, as soon as there is a first certificate. Bun.serve
 * cannot change its certificates (`reload` ignores them): for new ones a second listener starts on the same port, and the
 * old one stops once it has finished its requests.
 * @throws when another program listens on the port
 */
export function openTlsListener(deps: TlsListenerDeps): TlsListener {
  const { certificates, log } = deps
  const port = deps.sharesPort && deps.listen.port !== 0 ? deps.listen.port : freePort(deps.listen)
  const retired = new Set<Server>()
  let current: Server | undefined
  let isClosing = false

  function renew(): void {
    if (isClosing) return
    const currentCertificates = certificates.current()
    if (currentCertificates.length === 0) return
    const previous = current
    try {
      current = startServer(deps, port, currentCertificates)
    } catch (error) {
      log.error({ err: error }, 'HTTPS listener not restarted with the new certificates: it keeps serving the old ones')
      return
    }
    if (previous) retire(previous)
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
    async close(drained) {
      isClosing = true
      const servers = [...retired, ...(current ? [current] : [])]
      await Promise.all(servers.map(server => stopListener(server, drained)))
    },
  }
}

function startServer(
  { listen, idleSeconds, fetch }: TlsListenerDeps,
  port: number,
  certificates: readonly Certificate[],
): Server {
  return Bun.serve({
    hostname: listen.host,
    port,
    reusePort: true,
    tls: tlsContexts(certificates),
    idleTimeout: idleSeconds,
    development: false,
    maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    fetch,
  })
}

/** The first certificate for clients that name none of our hosts (SNI), then one entry for each name. */
function tlsContexts(certificates: readonly Certificate[]) {
  const byName = new Map<string, Certificate>()
  for (const certificate of certificates)
    for (const name of certificate.names) if (!byName.has(name)) byName.set(name, certificate)
  const [first] = certificates
  return [
    ...(first ? [{ cert: first.chain, key: first.privateKey }] : []),
    ...[...byName].map(([serverName, { chain, privateKey }]) => ({ cert: chain, key: privateKey, serverName })),
  ]
}

/** The port to listen on. Listens there exclusively for a moment, since `reusePort` would share it with another program. */
function freePort({ host, port }: Endpoint): number {
  const probe = Bun.listen({ hostname: host, port, socket: { data() {} } })
  const { port: available } = probe
  probe.stop(true)
  return available
}
