// Phrases by which mail servers give the reason of a refusal, in the languages in which they do.

/** A text by which the server says that it is temporary. */
export const notNow =
  /not found,? (?:please )?try again|temporar(?:y|ily) (?:failure|error|unavailable|rejected|deferred|disabled|lookup)|try again later/i

/** In the phrases a space matches white space, dashes or underscores; ` ?` also matches none. */
function anyOf(...phrases: readonly string[]): RegExp {
  const spaced = (phrase: string) =>
    phrase.replace(/ (\??)/g, (_, optional: string) => (optional === '' ? '[\\s_-]+' : '[\\s_-]*'))
  return new RegExp(phrases.map(spaced).join('|'), 'iu')
}

export const fullMailbox = anyOf(
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

/** Sender, domain of the sender or its address, followed by a refusal; an address between is masked as `@`. */
const senderRefused =
  'sender(?:.s)? (?:e ?mail )?(?:address |domain |mailbox |host |id )?(?:<?@>?:? )?(?:is |was |has been |could not be |can ?not be )?(?:rejected|denied|refused|blocked|invalid|unknown|unverified|verified|verif(?:y|ication)|callout|not (?:allowed|accepted|found|valid|permitted|verified|resolvable)|(?:does(?:n.t| not)|must) (?:exist|resolve))'
const senderAddress =
  '(?:invalid|bad|unknown|unverified|unresolvable|forged|spoofed|illegal|nonexistent|missing) (?:envelope )?(?:sender|from|return path|reverse path|originator)|domain of (?:the )?sender|sender.s (?:domain|address|server|ip|host|mx)|envelope (?:from|sender)|verification failed for <?@|in reply to (?:the )?(?:mail from|helo|ehlo)|after (?:pipelined )?(?:mail from|helo|ehlo)|(?:response|reply|error)[^\\n]{0,10} to (?:the )?mail from|\\bfrom (?:address|domain|field)'
const senderHost =
  '(?:your|sending|client|connecting) (?:ip|mta|host ?(?:name)?|domain|server|mail ?(?:server|host)|network|provider|isp|reverse|dns|mx)\\b|(?:invalid|bad|unqualified|forged) (?:host ?name|client|helo)|reverse (?:dns|lookup|mapping|pointer|name)|\\b(?:fc)?rdns\\b'

/** Applied to replies of servers, in which these words are rare where the recipient is unknown. */
export const aboutSender = anyOf(
  'spam|\\bubl\\b|\\brbl\\b|\\bdnsbl\\b|black ?list|block ?list|blocked|banned|blacklisted',
  'spamhaus|spamcop|barracuda reputation|proofpoint|cloudmark|sorbs',
  'reputation|unsolicited|bulk mail|mass mail',
  'greylist|grey listed|rate limit|too many (?:connections|messages|recipients|errors)|throttl',
  'polic(?:y|ies)|administrative prohibition|administratively|not authori[sz]ed|unauthori[sz]ed|authenticat(?!ion.results)',
  'access denied[^.\\n]*(?:ip|sender|client|host)',
  senderRefused,
  senderAddress,
  senderHost,
  'relay(?:ing)?(?: access)? (?:denied|not (?:permitted|allowed))|not (?:permitted|allowed) to relay|unable to relay',
  '\\bspf\\b|\\bdkim\\b|\\bdmarc\\b|\\bptr\\b|\\bhelo\\b|\\behlo\\b',
  '\\bheaders?\\b(?!["\\\\])|message id|(?<!\\/)rfc ?(?:822|2822|5322|1123)\\b(?!;)|(?:not|non) compliant',
  'attack|harvest|suspicious|suspected|phish|spoof|forge[dr]|fraud|malicious|flood',
  'content (?:rejected|refused)|virus|malware|infected|attachments? (?:type|(?:is |are |was )?(?:not allowed|rejected|blocked|removed))|message (?:content|size)|too (?:large|big)|message length',
  'size limit|exceeds (?:the )?(?:maximum|fixed)',
  'restricted|closed to outside|only accepts (?:mail|messages) from|only subscribers|not a member|moderated',
)

/** Applied to all that a report says in words: phrases that stand in no explanation of an unknown recipient. */
export const senderReason = anyOf(
  '\\bspf\\b|\\bdkim\\b|\\bdmarc\\b|reverse dns|black ?list|block ?list|\\brbl\\b|dnsbl|spamhaus|spamcop',
  senderRefused,
  '(?:invalid|bad|unverified|unresolvable|forged|spoofed|illegal) (?:envelope )?(?:sender|return path|reverse path)|domain of (?:the )?sender|verification failed for <?@|in reply to (?:the )?(?:mail from|helo|ehlo)|after (?:pipelined )?(?:mail from|helo|ehlo)',
  'violat[a-z]+ [^.\\n]{0,40}polic|polic(?:y|ies) (?:violation|restrict|reject|reason|prohibit|related|does not|do not)|(?:due to|because of|by|against) (?:[\\w.]+ ){0,3}polic(?:y|ies)',
  '(?:authentication|smtp auth) (?:is |was |has )?(?:required|failed|failure|needed|error)|not authenticated|unauthenticated|(?:requires?|failed|fails|missing) (?:[a-z]+ )?authentication',
  '(?:invalid|missing|malformed|bad|duplicate|illegal|multiple|improper|suspicious|forged) (?:[\\w:]+ )?headers?\\b|headers? (?:field )?(?:is |are |was |were )?(?:missing|invalid|malformed|bad|rejected|not (?:allowed|valid|rfc|compliant|permitted))',
  'directory harvest|dictionary attack|harvest(?:ing)? attack|denial of service|(?:suspected|possible|potential|under|as an?) attack|attack (?:detected|attempt|blocked)',
  '(?:your|sending|client|connecting) (?:ip|host ?(?:name)?|domain|server|mail ?(?:server|host))\\b[^.\\n]{0,60}(?:reject|block|listed|denied|refus|not (?:allowed|permitted|accepted|resolv)|does(?:n.t| not) resolve|reputation)',
  '(?:identified|classified|detected|rejected|considered|marked|flagged|blocked) as (?:[a-z]+ )?(?:spam|junk|bulk|phish|virus|malware)',
)

/** Either reason may hold: `unknown user or mailbox full`. */
export const unknownOrFull = anyOf(
  '(?:unknown|no such|invalid|not (?:found|known)|does(?:n.t| not) exist|inactive|disabled|unavailable)[^.;\\n]{0,40}\\b(?:or|and.or|oder|ou|o)\\b[^.;\\n]{0,40}(?:\\bfull\\b|quota|storage|\\bspace\\b|\\bvoll\\b)',
  '(?:\\bfull\\b|quota|storage|\\bspace\\b)[^.;\\n]{0,40}\\b(?:or|and.or)\\b[^.;\\n]{0,40}(?:unknown|no such|invalid|not (?:found|known)|does(?:n.t| not) exist|inactive|disabled|unavailable)',
)

/** A domain that takes no mail by its own word: Google says so with the code 4.0.0 in a report of a final failure. */
export const takesNoMail = anyOf('(?:does(?:n.t| not)|do(?:n.t| not)) (?:accept|receive) e ?mails?\\b|null mx')

export const unknownRecipient = anyOf(
  '(?:user|recipient|mail ?box|address|account|addressee|local part|userid|mailname) (?:is |was |name is )?(?:unknown|invalid|not (?:found|known|listed|recognized|valid)|nonexistent|inexistant|does ?n.t exist|does not exist|no longer (?:exists|valid|available|here))',
  '(?:unknown|invalid|no such|non ?existent|bad|undeliverable|unrouteable|unroutable|incorrect) (?:or (?:illegal|invalid) )?(?:local )?(?:user|recipient|mail ?box|address|account|alias|local part|destination mailbox|e ?mail|username|final delivery userid)',
  'no (?:valid )?(?:mailbox|account|user|recipient|person|such person)s?(?: here)?(?: by| with| of| for| at| on| in|$|[.,;:(])',
  'no such (?:user|person|recipient|mailbox|address|account)|no valid recipients',
  '(?:user|mailbox|account)[^\\n]{0,80}(?:does ?n.t|does not|did not) (?:have|exist)',
  'this user does ?n.t have|does(?:n.t| not) have an? [\\w.@-]+ account',
  'account (?:that you tried to reach )?does not exist|email account that you tried to reach does not',
  'address (?:couldn.t|could not) be found|wasn.t found at|was not found|address not found',
  'recipient name is not recognized|recipient not found|unknown recipient|recipient address rejected: (?:user|undeliverable|unknown|invalid)',
  'not our (?:customer|user)|user not local|not a (?:valid|local|known) (?:user|mailbox|recipient|address)|is not a (?:valid|known) (?:user|mailbox|recipient|address)',
  'not listed in (?:domino directory|public name)|no such name|name not found|not in directory',
  'is a deactivated (?:mail ?box|account|user|address)|no mail ?box (?:is )?(?:available|exists|found)|(?:is )?not an active (?:e ?mail )?(?:address|user|account|mail ?box)|(?:user|recipient|mail ?box|account|address)(?: <?@>?)? (?:is )?(?:not exist|non existing|no exist)(?:s|ed)?\\b|@>?:? (?:is |does )?not exists?\\b',
  'user[^\\n]{0,60} (?:unknown|not known|not found)|unknown (?:user|recipient)|possibly incorrect',
  'requested action not taken: mailbox (?:unavailable|not found)',
  'delivery error: dd this user does',
  'ung[üu]ltige(?:r|s)? (?:empf[äa]nger|adresse)|empf[äa]nger (?:ist )?unbekannt|unbekannte(?:r|s)? (?:benutzer|empf[äa]nger|adresse)|adresse (?:existiert|ist) (?:nicht|unbekannt|ung[üu]ltig)|(?:postfach|adresse)[^\\n]{0,40} existiert nicht|konto existiert nicht',
  'does(?:n.t| not) have a final (?:e ?mail )?delivery point|address is (?:wrong|incorrect)|no such (?:user|mail ?box) here',
  '(?:adresse|utilisateur|destinataire|bo[îi]te)[^\\n]{0,60} n.existe (?:pas|plus)|non recens',
  'adresse (?:e mail |destinataire )?(?:invalide|inconnue|inexistante)|utilisateur inconnu|destinataire inconnu',
  'usuario (?:desconocido|no existe)|buz[óo]n no existe|destinatario (?:desconocido|no encontrado)|utente sconosciuto|indirizzo (?:inesistente|sconosciuto)|usu[áa]rio (?:inexistente|desconhecido)',
  'такого пользователя|пользователь не (?:найден|существует)|адрес не (?:найден|существует)|ящик не (?:найден|существует)',
  '(?:用户|收件人|邮箱|地址|帐号|账号)(?:地址)?(?:不存在|未找到|无效)|不存在的(?:用户|收件人|邮箱)|(?:宛先|受信者|メールアドレス|ディレクトリ)[^\\n。]{0,40}(?:見つかりません|存在しません|登録されていません|含まれていません|ありません|不明)|ユーザー?[^\\n。]{0,40}(?:見つかりません|存在しません|登録されていません|含まれていません)|사용자를 찾을 수 없|존재하지 않',
)

export const unknownDomain = anyOf(
  '(?:host|domain|dns|name server)[^\\n]{0,60}(?:unknown|not found|does ?n.t exist|does not exist|nxdomain|non ?existent)',
  '(?:unknown|no such|nonexistent) (?:host|domain)',
  'unrouteable (?:mail )?(?:domain|address)|unrout?able address|all relevant mx records point to non ?existent',
  'couldn.t find (?:any host (?:named|by that name)|a mail exchanger or ip address)|mx or srv record indicated no smtp service|could not find any host|domain name not found',
  'no (?:mail ?exchanger|mx)[^\\n]{0,40}(?:exists|found)|null mx|domain (?:is )?not reachable',
)

export const closedMailbox = anyOf(
  '(?:account|mail ?box|user|address|recipient) (?:has been |is |was )?(?:temporarily )?(?:disabled|inactive|suspended|deactivated|not active|expired|closed|deleted|locked|terminated|discontinued)',
  'account has been disabled or discontinued|inactive (?:user|account|mailbox|recipient)|disabled (?:user|account|mailbox|recipient)',
  'no longer (?:on server|active|in use|with|employed)',
  'konto (?:ist )?(?:gesperrt|deaktiviert)|аккаунт (?:заблокирован|отключ)|ящик (?:заблокирован|отключ)',
)

export const outOfTime = anyOf(
  'timed? ?out|time ?out|retry (?:time|timeout) (?:not reached|exceeded)|queue(?:d)? (?:too long|expired)|expired|could not be delivered for|connection (?:refused|lost|timed)|lost connection|no route to host|network (?:is )?unreachable|temporar(?:y|ily)|try again|deferred',
)
