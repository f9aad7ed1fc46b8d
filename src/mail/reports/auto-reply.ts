import type { HeaderField } from '../header.ts'
import { decodeEncodedWords, fieldOf } from './report-mime.ts'

/** Header fields that mark automatic replies, whatever their value. */
const autoReplyFields = new Set([
  'x-autoreply',
  'x-autoreply-from',
  'x-autorespond',
  'x-autoresponder',
  'x-auto-reply',
  'x-mail-autoreply',
  'x-mailer-autoreply',
  'x-vacation',
  'x-ms-exchange-generated-message-source',
])

/** How the subjects of out-of-office replies begin, for those without such a field. */
const autoReplySubjects = new RegExp(
  `^\\s*(?:${[
    'out of (?:the )?office',
    'ooo\\b',
    'auto(?:matic)?[- ]?(?:reply|response|answer)',
    'autoreply',
    'auto:',
    'away from (?:my|the) (?:office|mail|desk)',
    'vacation (?:reply|message|notice)',
    'i am (?:currently )?(?:out of office|on vacation|away)',
    'automatische antwort',
    'automatische antw\\b',
    'abwesenheits?(?:notiz|nachricht|assistent|benachrichtigung|mitteilung|agent)?\\b',
    'abwesend\\b',
    'ich bin (?:derzeit |momentan )?(?:nicht im (?:büro|haus)|im urlaub|abwesend)',
    'nicht im (?:büro|haus)',
    'r[ée]ponse automatique',
    'absence du bureau',
    'absent(?:e)? du bureau',
    'message d.absence',
    'respuesta autom[áa]tica',
    'fuera de (?:la )?oficina',
    'risposta automatica',
    'fuori (?:sede|ufficio)',
    'assente\\b',
    'resposta autom[áa]tica',
    'fora do escrit[óo]rio',
    'automatisch antwoord',
    'afwezig(?:heid)?\\b',
    'niet aanwezig',
    'autosvar',
    'automatiskt svar',
    'automatisk svar',
    'fraværsassistent',
    'frånvaro',
    'automaattinen vastaus',
    'poissa(?:oloviesti)?\\b',
    'automatyczna odpowied[źz]',
    'odpowied[źz] automatyczna',
    'nieobecno[śs][ćc]',
    'automatick[áa] odpov[ěe][ďd]',
    'mimo kancel[áa][řr]',
    'automatikus v[áa]lasz',
    'házon kívül',
    'răspuns automat',
    'otomatik (?:yanıt|cevap)',
    'автоответ',
    'автоматический ответ',
    'автоматична відповідь',
    'αυτόματη απάντηση',
    '自動(?:返信|応答|回覆)',
    '自动(?:回复|答复)',
    '不在(?:通知|のお知らせ|です)',
    '외출 중|자동 ?(?:회신|응답)|부재중',
    'رد تلقائي',
    'תשובה אוטומטית',
  ].join('|')})`,
  'iu',
)

/**
 * Whether a program sent the message: by Auto-Submitted (RFC 3834 §5: any keyword but `no`), by the fields that older
 * programs set, or by how its subject begins.
 */
export function isAutomatic(fields: readonly HeaderField[]): boolean {
  const submitted = keywordOf(fields)
  if (submitted !== undefined) return submitted !== 'no'
  return /^\s*(?:bulk|junk)\b/i.test(fieldOf(fields, 'precedence') ?? '') || isMarkedReply(fields)
}

/** Whether it is an automatic reply, such as an out-of-office message, rather than any other automatic message. */
export function isAutomaticReply(fields: readonly HeaderField[]): boolean {
  const submitted = keywordOf(fields)
  if (submitted !== undefined) return submitted === 'auto-replied'
  return !isFromList(fields) && (isMarkedReply(fields) || isReplyInBulk(fields))
}

/** Old vacation programs mark what they reply so. What replies to nothing is a newsletter or a notification. */
function isReplyInBulk(fields: readonly HeaderField[]): boolean {
  return /^\s*bulk\b/i.test(fieldOf(fields, 'precedence') ?? '') && fieldOf(fields, 'in-reply-to') !== undefined
}

/** Whether a mailing list or a newsletter sent it (RFC 2919, RFC 2369). */
export function isFromList(fields: readonly HeaderField[]): boolean {
  return fields.some(({ name }) => /^list-(?:id|unsubscribe|post)$/i.test(name))
}

/** The keyword of Auto-Submitted, without parameters and comments. */
function keywordOf(fields: readonly HeaderField[]): string | undefined {
  return fieldOf(fields, 'auto-submitted')
    ?.replace(/[;(].*$/s, '')
    .trim()
    .toLowerCase()
}

function isMarkedReply(fields: readonly HeaderField[]): boolean {
  if (fields.some(field => autoReplyFields.has(field.name.toLowerCase()))) return true
  if (/^\s*auto[_-]?reply\b/i.test(fieldOf(fields, 'precedence') ?? '')) return true
  if (/\bauto(?:responder|reply)/i.test(fieldOf(fields, 'x-post-messageclass') ?? '')) return true
  return autoReplySubjects.test(decodeEncodedWords(fieldOf(fields, 'subject') ?? '').normalize('NFC'))
}
