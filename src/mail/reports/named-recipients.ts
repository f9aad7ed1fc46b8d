const address =
  /(?:"[^"\s]{1,64}"|[^\s<>()[\]:;,"'|：，。；]{1,64})@[A-Za-z0-9\u0080-\uffff-]{1,63}(?:\.[A-Za-z0-9\u0080-\uffff-]{1,63})+/g

export function findAddresses(text: string): readonly string[] {
  return [...new Set(Array.from(text.matchAll(address), ([found]) => found.replace(/[.]+$/, '')))]
}

const label =
  '(?:(?:failed|final|original|invalid|bad|unknown|undeliverable|intended|e-?mail)?[ -]*(?:recipients?|address(?:es)?|user|rcpt[ _]to|to|mailbox|empfänger|destinatario|destinataire|получатель|收件人|受信者|宛先|无法发送到)(?:[ -]*(?:address|name|for|of)|邮箱|地址)?[ \\t]*[:：=]?[ \\t]*)?'
const nameBefore =
  '(?:(?:[^\\n<>@:]{0,60}|[^\\n<>@]{0,60}\\b(?:to|for|recipient|address|user):?[ \\t]*)<(?:mailto:|smtp:)?)?'

/** A recipient at the start of a line: bare or in brackets or quotes, the rest of the line the cause or nothing. */
export const recipientLine = new RegExp(
  `^[ \\t]*(?:[-*•>]{1,3}[ \\t]+|\\d+[.)][ \\t]+)?${label}${nameBefore}["'<(\\[]?((?:[^\\s<>()[\\]:;,"'|：，。；]{1,64})@[\\w\\u0080-\\uffff-]+(?:\\.[\\w\\u0080-\\uffff-]+)+)(?=[>"')\\]:;, \\t]|\\.?$|\\.\\s)`,
  'gim',
)
const notRecipient = /^(?:mailer-daemon|postmaster|mail-daemon)@/i
const ofSender =
  /^[ \t]*(?:(?:from|sender|reply-to|mail from|return-path|originator|original sender|by|reporting-mta|von|de|от)\b[ \t]*[:=<]|>>>[ \t]*mail\b)|(?:contact|assistance|questions|help)\b[^\n]*@/i
const aboutDelivery = /deliver|unknown|user|mailbox|recipient|address|rcpt|invalid|unable|sent to|quota|reject/i
/** What stands right before the list of recipients; what comes before it may name others. */
const listFollows =
  /(?:did not reach the following recipient\(s\)|following (?:recipient|address|destination)[^\n]{0,40}|(?:was|be) (?:not )?delivered to|had (?:permanent|delivery|transient)[^\n]{0,30}|undeliverable to)[^\n@]{0,30}[:\n]/i

/** The recipients that a notification names: in its list of them, else where lines begin, else one that is spoken of. */
export function findNamedRecipients(text: string): readonly string[] {
  const list = listFollows.exec(text)
  const after = list ? linesNaming(text.slice(list.index + list[0].length - 1)) : []
  if (after.length > 0) return after
  const own = linesNaming(text)
  if (own.length > 0) return own
  const told = text.split('\n').filter(line => aboutDelivery.test(line) && !ofSender.test(line))
  return findAddresses(told.join('\n'))
    .filter(address => !notRecipient.test(address))
    .slice(0, 1)
}

/** The addresses at which lines begin, one that is a mail system's own only when there is no other. */
function linesNaming(text: string): readonly string[] {
  const lines = text.split('\n').filter(line => !ofSender.test(line))
  const own = [...new Set(Array.from(lines.join('\n').matchAll(recipientLine), ([, found = '']) => found))]
  const usual = own.filter(value => !notRecipient.test(value))
  return usual.length > 0 ? usual : own
}
