import { readDate } from '../date.ts'
import { oneLine } from '../text.ts'
import { findEnhancedStatus, findReplyCode, isSpecific, readEnhancedStatus, statusClassOf } from './enhanced-status.ts'
import type { Report, ReportedAction, ReportedRecipient } from './report.ts'
import type { ReportMessage } from './report-mime.ts'

type DeliveryStatus = Pick<Report, 'recipients' | 'reportingMta' | 'envelopeId'>

const statusTypes = new Set(['message/delivery-status', 'message/global-delivery-status', 'text/delivery-status'])

// RFC 3464 §2.2, §2.3. A line that begins with none of these fields continues the one before, however it is folded.
const perMessage = new Set([
  'reporting-mta',
  'dsn-gateway',
  'received-from-mta',
  'arrival-date',
  'original-envelope-id',
])
const perRecipient = new Set([
  'original-recipient',
  'final-recipient',
  'action',
  'status',
  'remote-mta',
  'diagnostic-code',
  'last-attempt-date',
  'final-log-id',
  'will-retry-until',
])

type StatusFields = Map<string, string>

/**
 * Reads the machine-readable part of a delivery status notification (RFC 3464 §2, RFC 6533 §3); null: there is none. Lenient:
 * recipients without an empty line between, fields folded without white space, several parts, no Action.
 */
export function readDeliveryStatus({ parts }: ReportMessage): DeliveryStatus | null {
  const texts = parts.filter(part => statusTypes.has(part.type)).map(part => part.text)
  if (texts.length === 0) return null
  const groups = texts.flatMap(readGroups)
  const messageFields: StatusFields = new Map(
    groups.flatMap(group => [...group].filter(([name]) => perMessage.has(name))),
  )
  return {
    recipients: groups.flatMap(group => recipientOf(group) ?? []),
    reportingMta: mtaOf(messageFields.get('reporting-mta')),
    envelopeId: messageFields.get('original-envelope-id')?.trim() || null,
  }
}

/** The recipients whose fields are in a text that is not declared as a delivery status. */
export function findDeliveryStatusRecipients(text: string): readonly ReportedRecipient[] {
  if (!/^[ \t]*(?:final|original)-recipient[ \t]*:/im.test(text)) return []
  return readGroups(text).flatMap(group => recipientOf(group) ?? [])
}

const maxGroups = 200
const fieldLine = /^[ \t]{0,4}([A-Za-z][A-Za-z0-9-]{1,40})[ \t]*:[ \t]*(.*)$/

/** The groups of fields: a group ends at an empty line, or where a recipient's field is repeated. */
function readGroups(text: string): readonly StatusFields[] {
  const groups: StatusFields[] = [new Map()]
  let last: string | undefined
  for (const line of text.split('\n')) {
    if (groups.length > maxGroups) break
    const group = groups.at(-1) ?? new Map<string, string>()
    const [, name = '', value = ''] = fieldLine.exec(line) ?? []
    const key = name.toLowerCase()
    if (line.trim() === '') {
      if (group.size > 0) groups.push(new Map())
      last = undefined
    } else if (perMessage.has(key) || perRecipient.has(key) || key.startsWith('x-')) {
      if (group.has(key) && perRecipient.has(key)) groups.push(new Map([[key, value]]))
      else group.set(key, value)
      last = key
    } else if (last !== undefined) {
      const open = groups.at(-1)
      open?.set(last, `${open.get(last)} ${line.trim()}`)
    }
  }
  return groups
}

function recipientOf(fields: StatusFields): ReportedRecipient | null {
  const address = fields.get('final-recipient') ?? fields.get('original-recipient')
  const actionField = fields.get('action')
  if (address === undefined && (actionField === undefined || fields.get('status') === undefined)) return null
  const status = /[245]\.\d{1,3}\.\d{1,3}/.exec(fields.get('status') ?? '')?.[0]
  const diagnostic = diagnosticOf(fields.get('diagnostic-code'))
  const code = moreSpecific(status === undefined ? null : readEnhancedStatus(status), diagnostic)
  return {
    finalRecipient: addressOf(address) ?? '',
    originalRecipient: addressOf(fields.get('original-recipient')),
    action: actionOf(actionField, code, diagnostic),
    enhancedCode: code,
    smtpCode: diagnostic === null ? null : findReplyCode(diagnostic),
    diagnostic,
    notice: '',
    remoteMta: mtaOf(fields.get('remote-mta')),
    lastAttemptAt: readDate(fields.get('last-attempt-date') ?? ''),
  }
}

/**
 * The quoted reply comes from the remote server itself: it wins over a Status that is less specific, or that the reporter
 * derived from the basic code alone (sendmail: 5.1.1 for any 550).
 */
function moreSpecific(status: string | null, diagnostic: string | null): string | null {
  const quoted = diagnostic === null ? null : findEnhancedStatus(diagnostic)
  if (quoted === null || status === null) return quoted ?? status
  if (!isSpecific(status)) return isSpecific(quoted) || status.endsWith('.0.0') ? quoted : status
  const isReply = /^\d{3}[ -]+[45]\.\d/.test(diagnostic ?? '')
  return status.startsWith('5') && isReply && isSpecific(quoted) ? quoted : status
}

function actionOf(actionField: string | undefined, code: string | null, diagnostic: string | null): ReportedAction {
  const word = actionField?.toLowerCase() ?? ''
  if (/^delayed/.test(word)) return 'delayed'
  if (/^(?:delivered|deliver\b|deliverable)/.test(word)) return 'delivered'
  if (/^relayed/.test(word)) return 'relayed'
  if (/^expanded/.test(word)) return 'expanded'
  if (word !== '') return 'failed'
  const reply = diagnostic === null ? null : findReplyCode(diagnostic)
  if (code === null) return reply !== null && reply < 500 ? 'delayed' : 'failed'
  return ({ success: 'delivered', transient: 'delayed', permanent: 'failed' } as const)[statusClassOf(code)]
}

/** The address in `type; address` (RFC 3464 §2.3.1); text without an address is given as it is. */
function addressOf(value: string | undefined): string | null {
  if (value === undefined) return null
  const text = unitext(value.slice(value.indexOf(';') + 1).trim())
  return /(?:"(?:[^"\\]|\\.)+"|[^\s<>;,"()]+)@[^\s<>;,"()]+/.exec(text)?.[0] ?? (text.replace(/^<|>$/g, '') || null)
}

/** Decodes utf-8-addr-unitext: characters that are not ASCII are `\x{hex}` (RFC 6533 §3). */
function unitext(text: string): string {
  return text.replace(/\\x\{([0-9a-f]{2,6})\}/gi, (whole, hex: string) => {
    const point = Number.parseInt(hex, 16)
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole
  })
}

function mtaOf(value: string | undefined): string | null {
  const name = value?.slice(value.indexOf(';') + 1).trim()
  return name ? name.slice(0, 255) : null
}

const maxDiagnostic = 1000

/** The reply in `smtp; 550 …`, or the text of any other type, on one line. */
function diagnosticOf(value: string | undefined): string | null {
  const text = oneLine((value ?? '').replace(/^\s*[\w-]+\s*;\s*/, ''))
  return text.slice(0, maxDiagnostic) || null
}
