/** The result of a session of swaks, an independent SMTP client. */
export interface Conversation {
  /** 0: the server accepted everything. */
  readonly status: number
  /** All lines: `->` sent, `<-` received, `<**` refusals; `~>` and `<~` under TLS. */
  readonly transcript: string
}

/**
 * Sends a message with swaks to 127.0.0.1. `args` are those of swaks, such as `--from`, `--to`, `--data` or `--tls`.
 */
export async function swaks(port: number, args: readonly string[]): Promise<Conversation> {
  const command = ['swaks', '--server', '127.0.0.1', '--port', String(port), '--helo', 'client.test', '--timeout', '20']
  const running = Bun.spawn([...command, ...args], { stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  const [out, err, status] = await Promise.all([
    new Response(running.stdout).text(),
    new Response(running.stderr).text(),
    running.exited,
  ])
  return { status, transcript: out + err }
}
