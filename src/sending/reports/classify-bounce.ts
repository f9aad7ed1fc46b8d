import type { Bounce } from '../events/delivery-event.ts'

/** The evidence of a permanent or transient failure: the SMTP reply, or the one that a report quotes. */
export interface BounceEvidence {
  /** RFC 3463; null: none was given. */
  readonly enhancedCode: string | null
  readonly smtpCode: number | null
  readonly text: string | null
}

/** What a bounce means, and whether it suppresses the recipient. */
export interface BounceClass extends Omit<Bounce, 'suppressed'> {
  /** `when repeated`: only with another such bounce at least 24 hours before. */
  readonly suppress: 'at once' | 'when repeated' | 'never'
}

const noSuchRecipient: BounceClass = { type: 'permanent', scope: 'recipient', suppress: 'at once' }
const disabledMailbox: BounceClass = { type: 'permanent', scope: 'recipient', suppress: 'when repeated' }
const mailboxFull: BounceClass = { type: 'transient', scope: 'recipient', suppress: 'never' }
const senderProblem: BounceClass = { type: 'permanent', scope: 'infrastructure', suppress: 'never' }
const temporaryProblem: BounceClass = { type: 'transient', scope: 'infrastructure', suppress: 'never' }
const undetermined: BounceClass = { type: 'undetermined', scope: 'recipient', suppress: 'never' }

/**
 * What a bounce means: by the enhanced status code, then by known phrases of the text, then by the SMTP code. Failures of
 * the sender address, the route, the content or a policy (5.1.7, 5.1.8, 5.3.x to 5.7.x) never suppress the recipient, nor do
 * transient ones, nor a code whose text is about the sender. RFC 3463 §3, RFC 5248.
 */
export function classifyBounce(refused: BounceEvidence): BounceClass {
  const { enhancedCode, smtpCode } = refused
  const text = refused.text ?? ''
  const byCode = enhancedCode === null ? undefined : classOfCode(enhancedCode, text)
  if (byCode) return byCode
  if (smtpCode !== null && smtpCode < 500) return temporaryProblem
  return classOfText(text) ?? (smtpCode === null ? undetermined : classOfReply(smtpCode))
}

/** Undefined: the code does not decide, the text does. */
function classOfCode(code: string, text: string): BounceClass | undefined {
  if (code.startsWith('4')) return /^4\.[12]\./.test(code) ? mailboxFull : temporaryProblem
  if (!code.startsWith('5')) return undefined
  switch (code) {
    // No such mailbox, no such system, bad syntax, moved without a forwarding address, null MX (RFC 7505).
    case '5.1.1':
    case '5.1.2':
    case '5.1.3':
    case '5.1.6':
    case '5.1.10':
      return exonerate(text) ?? noSuchRecipient
    // Disabled; used by Microsoft 365 for an unknown recipient, and for a domain that has moved.
    case '5.2.1':
    case '5.4.1':
      return exonerate(text) ?? disabledMailbox
    case '5.2.2':
      return mailboxFull
    case '5.1.7':
    case '5.1.8':
    case '5.2.3':
      return senderProblem
    case '5.4.7':
    case '5.4.300':
      return temporaryProblem
    // Used by Postfix and qmail for a domain that does not exist, and for much else.
    case '5.4.4':
      return unknownDomain.test(text) && !notNow.test(text) ? noSuchRecipient : senderProblem
  }
  // For other address and mailbox codes, and undefined ones, the text decides; so it does for Outlook.com's 5.5.0.
  return /^5\.(?:[0-2]\.\d+|[35]\.0)$/.test(code) ? undefined : senderProblem
}

/** A text that exonerates the recipient, whatever the code before it. */
function exonerate(text: string): BounceClass | undefined {
  if (fullMailbox.test(text)) return mailboxFull
  return aboutSender.test(text) ? senderProblem : undefined
}

function classOfText(text: string): BounceClass | undefined {
  if (fullMailbox.test(text)) return mailboxFull
  if (aboutSender.test(text)) return senderProblem
  if (notNow.test(text)) return temporaryProblem
  if (unknownRecipient.test(text) || unknownDomain.test(text)) return noSuchRecipient
  if (closedMailbox.test(text)) return disabledMailbox
  if (outOfTime.test(text)) return temporaryProblem
  return undefined
}

/** RFC 5321 §4.2.3: what the bare code of a refusal is about. */
function classOfReply(code: number): BounceClass {
  return code === 550 || code === 551 || code === 553 ? undetermined : senderProblem
}

/** A text by which the server says that it is temporary. */
const notNow =
  /not found,? (?:please )?try again|temporar(?:y|ily) (?:failure|error|unavailable|rejected|deferred|disabled|lookup)|try again later/i

/** In the phrases a space matches white space, dashes or underscores; ` ?` also matches none. */
function anyOf(...phrases: readonly string[]): RegExp {
  const spaced = (phrase: string) =>
    phrase.replace(/ (\??)/g, (_, optional: string) => (optional === '' ? '[\\s_-]+' : '[\\s_-]*'))
  return new RegExp(phrases.map(spaced).join('|'), 'iu')
}

const fullMailbox = anyOf(
  'over (?:its |the |their )?(?:disk |mail |storage )?quota',
  'quota (?:is |was |has been )?(?:exceed|full|violation)',
  'exceed(?:s|ed|ing)?[^.\\n]{0,40}(?:quota|mailbox size|storage|local limit|space)',
  '(?:mail ?box|inbox|account|mail folder|maildir) (?:is |was )?(?:currently )?(?:too )?(?:full|over ?quota)',
  'mail ?box[^.\\n]{0,24} (?:is |was )?full\\b',
  'mailfolder is full',
  'not enough (?:disk |storage )?space|insufficient (?:disk |system )?(?:space|storage)|out of (?:storage|disk) space',
  'too many messages in (?:folder|mailbox)',
  'user is over(?:quota| the quota)|receiver over quota',
  'mail ?box (?:voll|ist voll)|postfach (?:ist )?voll|speicherplatz',
  'bo[îi]te (?:aux lettres |de r[ée]ception )?(?:est )?pleine|buz[óo]n (?:est[áa] )?lleno|casella (?:[èe] )?piena',
  'переполнен|容量(?:已满|不足|超过)|邮箱(?:空间)?(?:已满|不足)|メールボックス(?:が|の)?(?:一杯|容量)',
)

const aboutSender = anyOf(
  'spam(?!@)|\\bubl\\b|\\brbl\\b|\\bdnsbl\\b|black ?list|block ?list|blocked|banned|blacklisted',
  'spamhaus|spamcop|barracuda reputation|proofpoint|cloudmark|sorbs',
  'reputation|unsolicited|bulk mail|mass mail',
  'greylist|grey listed|rate limit|too many (?:connections|messages|recipients|errors)|throttl',
  'policy|administrative prohibition|administratively|not authori[sz]ed|unauthori[sz]ed|authentication (?:is )?required',
  'access denied[^.\\n]*(?:ip|sender|client|host)|sender (?:address |domain )?(?:rejected|denied|verify failed|unknown|not (?:allowed|accepted))',
  'relay(?:ing)?(?: access)? (?:denied|not (?:permitted|allowed))|not (?:permitted|allowed) to relay|unable to relay',
  '\\bspf\\b|\\bdkim\\b|\\bdmarc\\b|reverse dns|\\bptr\\b|\\bhelo\\b',
  'content (?:rejected|refused)|virus|malware|infected|attachments? (?:type|(?:is |are |was )?(?:not allowed|rejected|blocked|removed))|message (?:content|size)|too (?:large|big)|message length',
  'size limit|exceeds (?:the )?(?:maximum|fixed)',
  'restricted|closed to outside|only accepts (?:mail|messages) from|only subscribers|not a member|moderated',
)

const unknownRecipient = anyOf(
  '(?:user|recipient|mail ?box|address|account|addressee|local part|userid|mailname) (?:is |was |name is )?(?:unknown|invalid|not (?:found|known|listed|recognized|valid)|nonexistent|inexistant|does ?n.t exist|does not exist|no longer (?:exists|valid|available|here))',
  '(?:unknown|invalid|no such|non ?existent|bad|undeliverable|unrouteable|unroutable|incorrect) (?:or (?:illegal|invalid) )?(?:local )?(?:user|recipient|mail ?box|address|account|alias|local part|destination mailbox|e ?mail|username|final delivery userid)',
  'no (?:valid )?(?:mailbox|account|user|recipient|person|such person)s?(?: here)?(?: by| with| of| for| at| on| in|$|[.,;:(])',
  'no such (?:user|person|recipient|mailbox|address|account)|no valid recipients',
  '(?:user|mailbox|account)[^\\n]{0,80}(?:does ?n.t|does not|did not) (?:have|exist)',
  'this user does ?n.t have|does(?:n.t| not) have an? [\\w.-]+ account',
  'account (?:that you tried to reach )?does not exist|email account that you tried to reach does not',
  'address (?:couldn.t|could not) be found|wasn.t found at|was not found|address not found',
  'recipient name is not recognized|recipient not found|unknown recipient|recipient address rejected: (?:user|undeliverable|unknown|invalid)',
  'not our customer|not a (?:valid|local|known) (?:user|mailbox|recipient|address)|is not a (?:valid|known) (?:user|mailbox|recipient|address)',
  'not listed in (?:domino directory|public name)|no such name|name not found|not in directory',
  'user[^\\n]{0,60} (?:unknown|not known|not found)|unknown (?:user|recipient)|possibly incorrect',
  'requested action not taken: mailbox (?:unavailable|not found)',
  'delivery error: dd this user does',
  'ung[üu]ltige(?:r|s)? (?:empf[äa]nger|adresse)|empf[äa]nger (?:ist )?unbekannt|unbekannte(?:r|s)? (?:benutzer|empf[äa]nger|adresse)|adresse (?:existiert|ist) (?:nicht|unbekannt|ung[üu]ltig)|(?:postfach|adresse)[^\\n]{0,40} existiert nicht|konto existiert nicht',
  'adresse (?:e mail |destinataire )?(?:invalide|inconnue|inexistante)|utilisateur inconnu|destinataire inconnu',
  'usuario (?:desconocido|no existe)|buz[óo]n no existe|destinatario (?:desconocido|no encontrado)|utente sconosciuto|indirizzo (?:inesistente|sconosciuto)|usu[áa]rio (?:inexistente|desconhecido)',
  'такого пользователя|пользователь не (?:найден|существует)|адрес не (?:найден|существует)|ящик не (?:найден|существует)',
  '(?:用户|收件人|邮箱|地址|帐号|账号)(?:地址)?(?:不存在|未找到|无效)|不存在的(?:用户|收件人|邮箱)|宛先(?:が|の)?(?:見つかりません|不明)|ユーザー?(?:が|は)?(?:見つかりません|存在しません)|사용자를 찾을 수 없|존재하지 않',
)

const unknownDomain = anyOf(
  '(?:host|domain|dns|name server)[^\\n]{0,60}(?:unknown|not found|does ?n.t exist|does not exist|nxdomain|non ?existent)',
  '(?:unknown|no such|nonexistent) (?:host|domain)',
  'unrouteable (?:mail )?(?:domain|address)|unrout?able address|all relevant mx records point to non ?existent',
  'couldn.t find (?:any host (?:named|by that name)|a mail exchanger or ip address)|mx or srv record indicated no smtp service|could not find any host|domain name not found',
  'no (?:mail ?exchanger|mx)[^\\n]{0,40}(?:exists|found)|null mx|domain (?:is )?not reachable',
)

const closedMailbox = anyOf(
  '(?:account|mail ?box|user|address|recipient) (?:has been |is |was )?(?:temporarily )?(?:disabled|inactive|suspended|deactivated|not active|expired|closed|deleted|locked|terminated|discontinued)',
  'account has been disabled or discontinued|inactive (?:user|account|mailbox|recipient)|disabled (?:user|account|mailbox|recipient)',
  'no longer (?:on server|active|in use|with|employed)',
  'konto (?:ist )?(?:gesperrt|deaktiviert)|аккаунт (?:заблокирован|отключ)|ящик (?:заблокирован|отключ)',
)

const outOfTime = anyOf(
  'timed? ?out|time ?out|retry (?:time|timeout) (?:not reached|exceeded)|queue(?:d)? (?:too long|expired)|expired|could not be delivered for|connection (?:refused|lost|timed)|lost connection|no route to host|network (?:is )?unreachable|temporar(?:y|ily)|try again|deferred',
)
