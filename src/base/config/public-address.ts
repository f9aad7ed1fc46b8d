import type { Config } from './config.ts'

const ownAddress = /^http:\/\/(?:127\.\d+\.\d+\.\d+|0\.0\.0\.0|\[::1?\])(?=:|$)/

/**
 * The address that links start with, without a final slash: MAILROOM_PUBLIC_URL, or else where this machine reaches the
 * process. That one says `localhost`, not an IP address, for which browsers offer no passkeys.
 * @param listenUrl where the process listens; without it, where a process with these settings would
 */
export function publicAddress(
  { publicUrl, httpListen }: Pick<Config, 'publicUrl' | 'httpListen'>,
  listenUrl = `http://${httpListen.host.includes(':') ? `[${httpListen.host}]` : httpListen.host}:${httpListen.port}`,
): string {
  return (publicUrl ?? listenUrl.replace(ownAddress, 'http://localhost')).replace(/\/+$/, '')
}
