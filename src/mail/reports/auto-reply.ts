import type { HeaderField } from '../header.ts'
import { decodeEncodedWords, fieldOf } from './report-mime.ts'

/** Fields by which programs mark what they answer by themselves; what they hold does not matter. */
const marks = new Set([
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

/** What the subject of a note of absence begins with, where no field says so. */
const subjects = new RegExp(
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
 * Did a program send this by itself? By Auto-Submitted (RFC 3834 §5: any keyword but `no`), by the fields that older
 * programs set, or by how its subject begins.
 */
export function isAutomatic(fields: readonly HeaderField[]): boolean {
  const submitted = keywordOf(fields)
  if (submitted !== undefined) return submitted !== 'no'
  return /^\s*(?:bulk|junk)\b/i.test(fieldOf(fields, 'precedence') ?? '') || isMarkedReply(fields)
}

/** Is it an answer that a program gave, such as a note of absence, and not only something that a program sent? */
export function isAutomaticReply(fields: readonly HeaderField[]): boolean {
  const submitted = keywordOf(fields)
  if (submitted !== undefined) return submitted === 'auto-replied'
  const isOfList = fields.some(({ name }) => /^list-(?:id|unsubscribe|post)$/i.test(name))
  return !isOfList && (isMarkedReply(fields) || /^\s*bulk\b/i.test(fieldOf(fields, 'precedence') ?? ''))
}

/** The keyword of Auto-Submitted; parameters and comments may follow. */
function keywordOf(fields: readonly HeaderField[]): string | undefined {
  return fieldOf(fields, 'auto-submitted')
    ?.replace(/[;(].*$/s, '')
    .trim()
    .toLowerCase()
}

function isMarkedReply(fields: readonly HeaderField[]): boolean {
  if (fields.some(field => marks.has(field.name.toLowerCase()))) return true
  if (/^\s*auto[_-]?reply\b/i.test(fieldOf(fields, 'precedence') ?? '')) return true
  if (/\bauto(?:responder|reply)/i.test(fieldOf(fields, 'x-post-messageclass') ?? '')) return true
  return subjects.test(decodeEncodedWords(fieldOf(fields, 'subject') ?? '').normalize('NFC'))
}
