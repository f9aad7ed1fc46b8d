/** What swaks, an SMTP client of its own making, saw of a conversation. */
export interface Conversation {
  /** 0: the server took all that was sent. */
  readonly status: number
  /** Every line: `->` ours, `<-` the server's, `<**` one that refuses; `~>` and `<~` under TLS. */
  readonly transcript: string
}

/**
 * Sends a message with swaks to a server of ours on 127.0.0.1. `args` are its own, such as `--from`, `--to`, `--data` or
 * `--tls`.
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
