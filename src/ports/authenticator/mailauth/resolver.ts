import type { RecordData, RecordType, Resolver } from '../../resolver/port.ts'

/** The resolver that mailauth calls: like `dns.promises.resolve`, it reports absences and failures as errors with a code. */
export type MailauthResolve = (name: string, type: string) => Promise<never[] | string[][] | object[]>

export type MailauthRecords = Awaited<ReturnType<MailauthResolve>>

/** A SubjectPublicKeyInfo of 4096 bits takes 550 bytes; the time of a verification grows with the square of the bits. */
const maxKeyBytes = 600

/**
 * Adapts our resolver to mailauth: `ENOTFOUND` and `ENODATA` for absences, another code for a failure, for which mailauth's
 * checks give temperror. `onKeyTooLong` is called with the name of each DKIM key that is refused as too long.
 */
export function mailauthResolver(
  resolver: Resolver,
  signal: AbortSignal,
  onKeyTooLong: (name: string) => void = () => {},
): MailauthResolve {
  async function records<Type extends RecordType>(name: string, type: Type): Promise<readonly RecordData[Type][]> {
    const answer = await resolver.resolve(name, type, { signal })
    switch (answer.kind) {
      case 'found':
        return answer.records
      case 'none':
        throw withCode(answer.why, answer.why === 'nxdomain' ? 'ENOTFOUND' : 'ENODATA')
      case 'failed':
        throw withCode(`DNS failed for ${name}: ${answer.why}`, signal.aborted ? 'ETIMEOUT' : 'ESERVFAIL')
      default:
        return answer satisfies never
    }
  }

  return async (name, type) => {
    switch (type) {
      case 'TXT': {
        const texts = await records(name, 'TXT')
        if (isKeyName(name) && isKeyTooLong(texts[0])) {
          onKeyTooLong(name)
          throw withCode(`the key at ${name} is longer than 4096 bits`, 'EINVALIDVAL')
        }
        return texts.map(text => [text])
      }
      case 'A':
      case 'AAAA':
      case 'CNAME':
      case 'PTR':
      case 'MX':
        return [...(await records(name, type))] as never[] | object[]
      default:
        throw withCode(`records of type ${type} are not looked up`, 'ENODATA')
    }
  }
}

function isKeyName(name: string): boolean {
  return name.includes('._domainkey.')
}

function isKeyTooLong(record = ''): boolean {
  if (bytesOfBase64(record) <= maxKeyBytes) return false
  const key = /(?:^|;)\s*p\s*=([^;]*)/.exec(record)?.[1] ?? ''
  return bytesOfBase64(key.replace(/\s+/g, '')) > maxKeyBytes
}

function bytesOfBase64({ length }: string): number {
  return (length * 3) / 4
}

/** Without a stack, which would cost more than the look-up: absences are common. */
function withCode(message: string, code: string): Error {
  return Object.assign(Object.create(Error.prototype) as Error, { message, code })
}
