import type { Bounce } from '../events/delivery-event.ts'

/** What a refusal says of itself: a reply, or what a report tells of one. */
export interface BounceEvidence {
  /** RFC 3463; null: none was given. */
  readonly enhancedCode: string | null
  readonly smtpCode: number | null
  readonly text: string | null
}

/** What a bounce means, and whether its recipient is to be kept from further mail because of it. */
export interface BounceClass extends Omit<Bounce, 'suppressed'> {
  /** `when repeated`: only with another such bounce at least 24 hours before. */
  readonly suppress: 'at once' | 'when repeated' | 'never'
}

const gone: BounceClass = { type: 'permanent', scope: 'recipient', suppress: 'at once' }
const closed: BounceClass = { type: 'permanent', scope: 'recipient', suppress: 'when repeated' }
const full: BounceClass = { type: 'transient', scope: 'recipient', suppress: 'never' }
const ours: BounceClass = { type: 'permanent', scope: 'infrastructure', suppress: 'never' }
const passing: BounceClass = { type: 'transient', scope: 'infrastructure', suppress: 'never' }
const unclear: BounceClass = { type: 'undetermined', scope: 'recipient', suppress: 'never' }

/**
 * What a bounce means: by the enhanced status code, then by the texts of systems that say it otherwise, then by the SMTP
 * code. What concerns our address, our route, the content or a policy (5.1.7, 5.1.8, 5.3.x to 5.7.x) never speaks against
 * the recipient, nor does anything transient, nor a code whose own text speaks of us. RFC 3463 §3, RFC 5248.
 */
export function classifyBounce(refused: BounceEvidence): BounceClass {
  const { enhancedCode, smtpCode } = refused
  const text = refused.text ?? ''
  const byCode = enhancedCode === null ? undefined : classOfCode(enhancedCode, text)
  if (byCode) return byCode
  if (smtpCode !== null && smtpCode < 500) return passing
  return classOfText(text) ?? (smtpCode === null ? unclear : classOfReply(smtpCode))
}

/** Undefined: the code leaves it to the text. */
function classOfCode(code: string, text: string): BounceClass | undefined {
  if (code.startsWith('4')) return /^4\.[12]\./.test(code) ? full : passing
  if (!code.startsWith('5')) return undefined
  switch (code) {
    // No such mailbox, no such system, bad syntax, moved without a forwarding address, null MX (RFC 7505).
    case '5.1.1':
    case '5.1.2':
    case '5.1.3':
    case '5.1.6':
    case '5.1.10':
      return ownWord(text) ?? gone
    // Disabled; what Microsoft 365 says of a recipient that it does not know, and of a domain that moved.
    case '5.2.1':
    case '5.4.1':
      return ownWord(text) ?? closed
    case '5.2.2':
      return full
    case '5.1.7':
    case '5.1.8':
    case '5.2.3':
      return ours
    case '5.4.7':
    case '5.4.300':
      return passing
    // What Postfix and qmail say of a domain that is not there; and of much else.
    case '5.4.4':
      return unknownDomain.test(text) && !notNow.test(text) ? gone : ours
  }
  // Other codes of an address or a mailbox, and of nothing at all, leave it to the text; so does Outlook.com's 5.5.0.
  return /^5\.(?:[0-2]\.\d+|[35]\.0)$/.test(code) ? undefined : ours
}

/** A text that says of what is not the recipient's fault, whatever code stands before it. */
function ownWord(text: string): BounceClass | undefined {
  if (fullMailbox.test(text)) return full
  return aboutSender.test(text) ? ours : undefined
}

function classOfText(text: string): BounceClass | undefined {
  if (fullMailbox.test(text)) return full
  if (aboutSender.test(text)) return ours
  if (notNow.test(text)) return passing
  if (unknownRecipient.test(text) || unknownDomain.test(text)) return gone
  if (closedMailbox.test(text)) return closed
  if (outOfTime.test(text)) return passing
  return undefined
}

/** RFC 5321 §4.2.3: what the bare code of a refusal is about. */
function classOfReply(code: number): BounceClass {
  return code === 550 || code === 551 || code === 553 ? unclear : ours
}

/** A server's own word that it may be otherwise later. */
const notNow =
  /not found,? (?:please )?try again|temporar(?:y|ily) (?:failure|error|unavailable|rejected|deferred|disabled|lookup)|try again later/i

/** A space stands for white space, a dash or an underscore; with `?` for none of them too. */
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
