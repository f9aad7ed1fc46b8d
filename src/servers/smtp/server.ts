import type { AddressInfo, Socket } from 'node:net'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'
import type { Clock } from '../../base/clock.ts'
import type { Endpoint } from '../../base/config/config.ts'
import { networkMatcher } from '../../base/networks.ts'
import type { Log } from '../../base/observability/log.ts'
import { version } from '../../base/version.ts'
import { type Certificates, certificateFor } from '../../ports/certificates/port.ts'
import { replyFor, type SmtpRefusalCode } from '../../receiving/smtp-refusal.ts'
import { type ConnectionLimiter, openConnectionLimiter } from './connections/connection-limiter.ts'
import { awaitProxyHeader } from './connections/proxy-connection.ts'
import type { ClientEndpoint } from './connections/proxy-header.ts'
import type { MailService, SmtpRecipient, SmtpSessionDeps } from './deps.ts'
import { drainSessions } from './drain-sessions.ts'
import { type ListenerKind, sessionsCut } from './metrics.ts'
import { SmtpSession } from './session.ts'
import { type SessionLimits, type SmtpConfig, type SmtpTimeouts, sessionLimits, tickMs } from './session-limits.ts'
import type { SpoolFolder } from './spool.ts'
import { authMechanisms } from './submission/auth-dialog.ts'

/** What a listener is, and how it uses TLS. */
export interface SmtpListener {
  readonly kind: ListenerKind
  readonly listen: Endpoint
  /** `implicit`: a session begins with the handshake (RFC 8314 §3.3). */
  readonly tls: 'starttls' | 'implicit'
  /** Without a certificate connections are turned away. */
  readonly requiresCertificate: boolean
  /** Without a certificate, clients of this machine itself may log in without TLS. */
  readonly allowsLocalLogin: boolean
}

export interface SmtpServerDeps<Recipient extends SmtpRecipient> {
  readonly config: SmtpConfig
  readonly listener: SmtpListener
  /** Opens the service of a session, for a client at this address. */
  readonly openService: (clientAddress: string) => MailService<Recipient>
  /** STARTTLS is offered once there is a certificate. Sessions under way keep theirs. */
  readonly certificates: Certificates
  readonly log: Log
  readonly clock: Clock
  /** Holds messages past 256 KiB until they are answered. */
  readonly spoolFolder: SpoolFolder
  /** Do other processes listen on the same port (SO_REUSEPORT)? */
  readonly sharesPort?: boolean
  /** Shorter times, for tests. */
  readonly timeouts?: Partial<SmtpTimeouts>
}

export interface SmtpServer {
  readonly address: Endpoint
  /**
   * Accepts no new session and no new message, replies to the messages that have arrived (within half a minute), and
   * resolves once every session has ended and its service has settled every message. See {@link drainSessions}.
   */
  close(): Promise<void>
}

/**
 * Listens for mail (RFC 5321). Offers PIPELINING, 8BITMIME, SIZE, ENHANCEDSTATUSCODES, and STARTTLS with a certificate; an MX
 * SMTPUTF8, a listener for submission AUTH (RFC 6409, RFC 4954); none DSN, CHUNKING or BINARYMIME.
 * @throws when it cannot listen on the address
 */
export async function openSmtpServer<Recipient extends SmtpRecipient>(
  options: SmtpServerDeps<Recipient>,
): Promise<SmtpServer> {
  const { config, log, listener } = options
  const limits = sessionLimits(config, options.timeouts)
  const limiter = openConnectionLimiter(
    { total: config.maxSessions, perNetwork: config.maxSessionsPerAddress },
    listener.kind,
  )
  const sessions = new Set<SmtpSession<Recipient>>()
  let closing: Promise<void> | undefined
  let inFlight = 0
  const sessionDeps: SmtpSessionDeps<Recipient> = {
    kind: listener.kind,
    openService: options.openService,
    log,
    clock: options.clock,
    limits,
    spoolFolder: options.spoolFolder,
    smtputf8: listener.kind === 'mx',
    mayLogInWithoutTls: address => listener.allowsLocalLogin && !server.hasCertificate && isLoopback(address),
    isClosing: () => closing !== undefined,
    addInFlight: by => {
      inFlight += by
    },
  }
  const server = new LimitedSmtpServer(serverOptions(config, limits, listener), {
    sessionDeps,
    listener,
    limiter,
    sessions,
    isProxy: networkMatcher(config.smtpProxies ?? []),
    maxPendingHeaders: config.maxSessions,
  })
  server.on('error', error => log.error({ err: error }, 'SMTP listener failed: new connections may not be accepted'))
  const updateCertificate = () => server.useCertificate(options.certificates, config.hostname)
  updateCertificate()
  options.certificates.onChange(updateCertificate)
  const address = await listen(server, listener.listen, options.sharesPort ?? false)
  const ticker = setInterval(() => {
    const now = performance.now()
    for (const session of sessions) session.check(now)
  }, tickMs(limits))

  async function drain(): Promise<void> {
    server.server.close()
    await drainSessions(sessions, limits)
    for (let waitedMs = 0; inFlight > 0 && waitedMs < limits.drainMs; waitedMs += 20) await Bun.sleep(20)
    clearInterval(ticker)
  }
  return {
    address,
    close: () => {
      closing ??= drain()
      return closing
    },
  }
}

function listen(server: SMTPServer, { host, port }: Endpoint, reusePort: boolean): Promise<Endpoint> {
  return new Promise((resolve, reject) => {
    server.server.once('error', reject)
    server.server.listen({ port, host, reusePort }, () => {
      server.server.off('error', reject)
      const bound = server.server.address() as AddressInfo
      resolve({ host: bound.address, port: bound.port })
    })
  })
}

const unsupportedCommands = ['HELP', 'XCLIENT', 'XFORWARD', 'WIZ', 'SHELL', 'KILL', 'LHLO']

function serverOptions(config: SmtpConfig, limits: SessionLimits, { kind, tls }: SmtpListener): SMTPServerOptions {
  return {
    name: config.hostname,
    ...(config.smtpBanner && { banner: config.smtpBanner.replaceAll('%v', version) }),
    heloResponse: '%s',
    size: limits.maxMessageBytes,
    hideENHANCEDSTATUSCODES: false,
    hideDSN: true,
    hideSMTPUTF8: kind === 'submission',
    authMethods: [...authMechanisms],
    // The session itself decides when AUTH is needed, with replies of ours.
    authOptional: true,
    // The session does the handshake, so that our limits hold before and while it is done.
    ...(tls === 'implicit' && { secure: true, needsUpgrade: true }),
    // Without a certificate of ours smtp-server would use its own, whose private key is public.
    hideSTARTTLS: true,
    disabledCommands: [...unsupportedCommands, 'STARTTLS'],
    disableReverseLookup: true,
    maxCommandLength: limits.maxCommandOctets,
    logger: false,
    onConnect: (_session, next) => next(),
    onSecure: (_socket, _session, next) => next(),
  }
}

interface ListenerDeps<Recipient extends SmtpRecipient> {
  readonly sessionDeps: SmtpSessionDeps<Recipient>
  readonly listener: SmtpListener
  readonly limiter: ConnectionLimiter
  readonly sessions: Set<SmtpSession<Recipient>>
  /** Whether the address is that of a load balancer, whose connections begin with a header of the PROXY protocol. */
  readonly isProxy: (address: string) => boolean
  /** The most connections of load balancers that may wait for their header. */
  readonly maxPendingHeaders: number
}

/** The listener of smtp-server, with our sessions; limits connections before any work is done for them. */
class LimitedSmtpServer<Recipient extends SmtpRecipient> extends SMTPServer {
  hasCertificate = false
  private readonly deps: ListenerDeps<Recipient>
  private pendingHeaders = 0

  constructor(options: SMTPServerOptions, deps: ListenerDeps<Recipient>) {
    super(options)
    this.deps = deps
  }

  /** Uses the certificate for this name from the next TLS handshake on. */
  useCertificate(certificates: Certificates, name: string): void {
    const certificate = certificateFor(certificates.current(), name)
    if (!certificate) return
    this.updateSecureContext({ cert: certificate.chain, key: certificate.privateKey, minVersion: 'TLSv1.2' })
    this.hasCertificate = true
    if (this.deps.listener.tls === 'starttls')
      Object.assign(this.options, { hideSTARTTLS: false, disabledCommands: unsupportedCommands })
  }

  override connect(socket: Socket): void {
    const address = socket.remoteAddress
    if (address === undefined) socket.destroy()
    else if (this.deps.isProxy(address)) void this.connectProxied(socket, address)
    else this.startSession(socket, { address, port: socket.remotePort ?? 0 })
  }

  private async connectProxied(socket: Socket, address: string): Promise<void> {
    const { sessionDeps, maxPendingHeaders } = this.deps
    if (this.pendingHeaders >= maxPendingHeaders) {
      this.reject(socket, 'too_many_sessions')
      return
    }
    this.pendingHeaders++
    const header = await awaitProxyHeader(socket, sessionDeps.limits.proxyHeaderMs)
    this.pendingHeaders--
    switch (header.kind) {
      case 'client':
        this.startSession(socket, header.client)
        break
      case 'own':
        this.startSession(socket, { address, port: socket.remotePort ?? 0 })
        break
      case 'refused':
        // A health check of the load balancer: it connects and sends nothing.
        if (header.why === 'ended') return
        sessionsCut.inc({ listener: this.deps.listener.kind, reason: 'proxy_header' })
        sessionDeps.log.warn(
          { remote_ip: address, reason: header.why },
          'connection closed: a trusted proxy sent no valid PROXY protocol header',
        )
        break
      default:
        header satisfies never
    }
  }

  private startSession(socket: Socket, client: ClientEndpoint): void {
    const { sessionDeps, listener, limiter, sessions } = this.deps
    const { address } = client
    const isUnusable = listener.requiresCertificate && !this.hasCertificate
    const refusal = sessionDeps.isClosing()
      ? 'shutting_down'
      : isUnusable
        ? 'tls_unavailable'
        : limiter.acquire(address)
    if (refusal) {
      this.reject(socket, refusal)
      return
    }
    const session = new SmtpSession(this, socket, client, sessionDeps, () => {
      limiter.release(address)
      sessions.delete(session)
    })
    sessions.add(session)
    this.connections.add(session)
    session.on('error', error => sessionDeps.log.debug({ session_id: session.id, err: error }, 'SMTP session failed'))
    session.init()
  }

  private reject(socket: Socket, code: SmtpRefusalCode): void {
    const { kind, tls } = this.deps.listener
    sessionsCut.inc({ listener: kind, reason: code })
    socket.on('error', () => socket.destroy())
    const { code: basic, enhanced, text } = replyFor(code)
    // A client that begins with the handshake cannot read a reply.
    if (tls === 'implicit') socket.destroy()
    else socket.end(`${basic} ${enhanced} ${text}\r\n`, () => socket.destroy())
  }
}

/** Is it an address of this machine itself (RFC 1122 §3.2.1.3, RFC 4291 §2.5.3)? */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^(?:::ffff:)?127\.\d+\.\d+\.\d+$/i.test(host)
}
