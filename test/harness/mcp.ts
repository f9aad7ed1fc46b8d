import { fileURLToPath } from 'node:url'

export interface AuthorizationProxy {
  readonly url: string
  close(): Promise<void>
}

/** Forwards requests with a key, for clients that cannot send one. Host and Origin are kept. */
export function startAuthorizationProxy(to: string, key: string): AuthorizationProxy {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname, search } = new URL(request.url)
      const headers = new Headers(request.headers)
      headers.set('authorization', `Bearer ${key}`)
      const body = request.method === 'GET' ? undefined : await request.arrayBuffer()
      const response = await fetch(`${to}${pathname}${search}`, {
        method: request.method,
        headers,
        ...(body === undefined ? {} : { body }),
      })
      return new Response(response.body, { status: response.status, headers: response.headers })
    },
  })
  return { url: `http://localhost:${server.port}`, close: () => server.stop(true) }
}

export interface ScenarioResult {
  readonly scenario: string
  /** The failed checks. */
  readonly failed: readonly string[]
  readonly exitCode: number
}

/** Runs a server scenario of the official conformance suite. */
export async function runConformance(scenario: string, url: string): Promise<ScenarioResult> {
  const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))
  const child = Bun.spawn([process.execPath, suite, 'server', '--url', url, '--scenario', scenario, '--verbose'], {
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 30_000,
  })
  const [text, errorOutput] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  await child.exited
  const lines = `${text}\n${errorOutput}`.split('\n')
  const failed = lines.filter(line => /"status": "(FAILURE|WARNING)"/.test(line))
  if (!/"status": "SUCCESS"/.test(text)) failed.push(`no check was made:\n${text}${errorOutput}`)
  return { scenario, failed, exitCode: child.exitCode ?? 1 }
}
