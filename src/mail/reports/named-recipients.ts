const address =
  /(?:"[^"\s]{1,64}"|[^\s<>()[\]:;,"'|：，。；]{1,64})@[A-Za-z0-9\u0080-\uffff-]{1,63}(?:\.[A-Za-z0-9\u0080-\uffff-]{1,63})+/g

/** All addresses in a text, each once. */
export function findAddresses(text: string): readonly string[] {
  return [...new Set(Array.from(text.matchAll(address), ([found]) => found.replace(/^smtp=|\.+$/gi, '')))]
}

/** Where the text names this address, from an offset on, and not one that ends or begins like it; -1: nowhere. */
export function indexOfAddress(text: string, wanted: string, from = 0): number {
  if (wanted === '') return -1
  for (let at = text.indexOf(wanted, from); at >= 0; at = text.indexOf(wanted, at + 1)) {
    const isWhole =
      !/[\w.+=-]/.test(text.charAt(at - 1)) &&
      !/^(?:[\w-]|\.\w)/.test(text.slice(at + wanted.length, at + wanted.length + 2))
    if (isWhole) return at
  }
  return -1
}

const labelWords =
  '(?:failed|final|original|invalid|bad|unknown|undeliverable|intended|e-?mail)?[ -]*(?:recipients?|address(?:es)?|user|rcpt[ _]to|to|mailbox|empfänger|destinatario|destinataire|получатель|收件人|受信者|宛先|无法发送到)(?:[ -]*(?:address|name|for|of)|邮箱|地址)?'
/** What parts a label from the address: without it, `tom@` would be `to` and `m@`. No space follows a Chinese or Japanese label. */
const labelEnd = '(?:[ \\t]*[:：=][ \\t]*|[ \\t]+|(?=["\'<(\\[])|(?<=[\\u3000-\\u9fff])(?=[!-~]))'
const label = `(?:${labelWords}${labelEnd})?`
const nameBefore =
  '(?:(?:[^\\n<>@:]{0,60}|[^\\n<>@]{0,60}\\b(?:to|for|recipient|address|user):?[ \\t]*)<(?:mailto:|smtp:)?)?'

/** A recipient at the start of a line, bare or in brackets or quotes; the cause may follow. */
export const recipientLine = new RegExp(
  `^[ \\t]*(?:[-*•>]{1,3}[ \\t]+|\\d+[.)][ \\t]+)?${label}${nameBefore}["'<(\\[]?((?:[^\\s<>()[\\]:;,"'|：，。；]{1,64})@[\\w\\u0080-\\uffff-]+(?:\\.[\\w\\u0080-\\uffff-]+)+)(?=[>"')\\]:;, \\t]|\\.?$|\\.\\s)`,
  'gim',
)
const notRecipient = /^(?:mailer-daemon|postmaster|mail-daemon)@/i
const senderLine =
  /^[ \t]*(?:(?:from|sender|reply-to|mail from|return-path|originator|original sender|by|reporting-mta|von|de|от)\b[ \t]*[:=<]|>>>[ \t]*mail\b|[245]\d\d-)|\b(?:contact|assistance|questions|help)[ \t:,][^\n]*@/i
const deliveryWords =
  /deliver|unknown|user|mailbox|recipient|address|rcpt|invalid|unable|sent to|message to|quota|reject/i
/** What comes right before the list of recipients; text before it may name other addresses. */
const recipientListStart =
  /(?:did not reach the following recipient\(s\)|following (?:recipient|address|destination)[^\n]{0,40}|(?:was|be) (?:not )?delivered to|had (?:permanent|delivery|transient)[^\n]{0,30}|undeliverable to)[^\n@]{0,30}[:\n]/i

/** The recipients that a notification names: in its list of recipients, else at the start of lines, else one in its text. */
export function findNamedRecipients(text: string): readonly string[] {
  const list = recipientListStart.exec(text)
  const listText = list ? text.slice(list.index + list[0].length - 1) : ''
  const listed = recipientsAtLineStart(listText)
  if (listed.length > 0) return listed
  const inList = findAddresses(/\S.*?(?=\n\s*\n|$)/s.exec(listText)?.[0] ?? '')
  if (inList.length > 0) return inList.slice(0, 1)
  const atLineStart = recipientsAtLineStart(text)
  if (atLineStart.length > 0) return atLineStart
  const lines = text.split('\n').filter(line => deliveryWords.test(line) && !senderLine.test(line))
  return findAddresses(lines.join('\n'))
    .filter(address => !notRecipient.test(address))
    .slice(0, 1)
}

/** The addresses at the start of lines; those of mail systems themselves only when there are no others. */
function recipientsAtLineStart(text: string): readonly string[] {
  const lines = text.split('\n').filter(line => !senderLine.test(line))
  const addresses = [...new Set(Array.from(lines.join('\n').matchAll(recipientLine), ([, found = '']) => found))]
  const recipients = addresses.filter(value => !notRecipient.test(value))
  return recipients.length > 0 ? recipients : addresses
}
