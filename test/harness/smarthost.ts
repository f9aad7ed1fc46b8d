import type { Provider } from '../../src/ports/provider/port.ts'
import { presetOf } from '../../src/ports/provider/smarthost/presets.ts'
import { type SmarthostOptions, smarthostProvider } from '../../src/ports/provider/smarthost/smarthost.ts'

/** The smarthost provider for `url`, with the preset of Postfix unless another is options. */
export function testSmarthost(url: string, options: Partial<SmarthostOptions> = {}): Provider {
  return smarthostProvider({
    urls: [url],
    connections: 2,
    perSecond: null,
    attemptTimeoutMs: 5000,
    hostname: 'mail.test',
    preset: presetOf('postfix', true),
    dsnSuccess: false,
    ...options,
  })
}
