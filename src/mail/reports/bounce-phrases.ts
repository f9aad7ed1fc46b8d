// Phrases of mail systems whose bounces do not follow RFC 3464, grouped by mail system.

function anyOf(phrases: readonly string[], flags = 'iu'): RegExp {
  return new RegExp(phrases.map(phrase => phrase.replace(/ /g, '\\s+')).join('|'), flags)
}

/** Phrases in the text of bounces. */
export const bouncePhrases = anyOf([
  // qmail and its descendants (netqmail, s/qmail, Yahoo, GMX, Tencent)
  'this is the qmail-send program',
  'hi\\. (?:this is|the) ',
  "i(?:'m| am) afraid i wasn.t able to deliver",
  'i tried to deliver a bounce message to this address',
  'sorry, we were unable to deliver your message',
  'message from [\\w.-]+\\. (?:unable|sorry)',
  // Exim, 1&1, GMX, Mail.ru, Zoho
  'this message was created automatically by (?:the )?mail(?: delivery)?',
  'a message that you (?:have )?sent (?:could not be|has not yet been)',
  'the following address(?:\\(es\\)|es)? failed',
  'konnte nicht zugestellt werden',
  'konnten? (?:leider )?nicht (?:an|zugestellt|ausgeliefert|übermittelt)',
  'nicht zustellbar',
  // Sendmail, old and new
  'the following addresses? had (?:permanent )?(?:fatal errors?|delivery (?:problems|errors))',
  'the following addresses? had transient',
  'transcript of session follows',
  'the original message was received at',
  // Postfix, Yandex
  'this is the (?:mail system|postfix program) at host',
  'could not be delivered to one or more recipients',
  'could not be delivered to (?:the )?(?:following|all)',
  // Exchange, Microsoft 365, MailEnable
  'did not reach the following recipient',
  'delivery has failed to these recipients',
  'your message (?:to [^\\n]{1,200} )?(?:couldn.t|could not|wasn.t|was not|can(?:no|.)t) be(?:en)? delivered',
  'wasn.t delivered to',
  'was not delivered to',
  'could not be delivered (?:to|because|for)',
  'message (?:was )?not delivered',
  'message could not be delivered',
  'recipient(?:s)? (?:were|was|are|is) affected',
  // Gmail, AOL, IMail, GroupWise, InterScan, MailMarshal, MailFoundry, Mimecast, Proofpoint
  'delivery to the following recipients? (?:has )?(?:failed|been delayed)',
  'delivery to the following recipient\\(?s?\\)? ',
  'message blocked',
  'had trouble delivering your message',
  'invalid address, error',
  'address not found',
  'unable to deliver (?:your |the )?(?:message|mail)',
  'unknown (?:user|host)',
  'user (?:is )?(?:unknown|not found)|no such (?:user|mailbox|recipient)',
  'has been returned because|(?:has|have) not been delivered|(?:was|been) (?:automatically )?rejected',
  'undeliverable (?:message|mail|to)',
  'failure reasons?',
  'delivery failed',
  'delivery (?:error|failure)',
  'invalid (?:user|recipient|final delivery userid)',
  'user mailbox exceeds',
  'message delivery (?:has )?failed',
  'not (?:be )?delivered (?:because|due|for)',
  'non-delivered',
  'email that you attempted to send',
  'no valid recipients',
  'recipient address(?:es)? (?:was|were) rejected',
  'an error (?:has )?occurred while attempting to deliver',
  // other languages
  'невозможно доставить|не может быть (?:доставлен|отправлен)|не удалось доставить|не доставлен',
  'no se (?:ha podido|pudo) entregar|no pudo ser entregado',
  'n.a pas pu être (?:remis|délivré|distribué|livré)|n.a pas été (?:remis|délivré)',
  'non è stato possibile (?:recapitare|consegnare)|impossibile recapitare',
  'não p(?:ô|o)de ser entregue',
  '退信|无法(?:发送|投递|送达)|投递失败|未能送达',
  '配信できません|送信できません|送達できません|配信不能|配信(?:に)?失敗|見つかりません|届けることができません|お届けできません|届けられません|届きません',
  '(?:送信|配達|転送)(?:に)?失敗|(?:宛先|受信者|ユーザー?|アドレス)[^\\n]{0,80}(?:存在しません|登録されていません|ありません|含まれていません|不明)',
  '전송하지 못했습니다|배달하지 못했습니다',
])

/** Phrases in the subjects of bounces. */
export const bounceSubjects = anyOf([
  '^(?:re:)?\\s*(?:mail )?delivery (?:status notification|failure|failed|error|problem|report|unsuccessful)',
  '^failure notice',
  '^returned (?:mail|email|to sender)',
  '^undeliver(?:able|ed)',
  '^mail (?:delivery )?(?:failure|failed|error|system error)',
  'returning message to sender',
  '^non[- ]delivery',
  '^message (?:you sent blocked|delivery|not delivered)',
  '^(?:nicht|un)zustellbar|^unzustellbare?|^fehlgeschlagen|^rückläufer',
  '^\\[?(?:postmaster|系统退信)\\]?',
  '^bounced? (?:mail|message|email)',
  'could not be delivered|couldn.t be delivered|not delivered|user unknown|rejected mail',
  'mail system error',
  '^there was an error sending your mail',
  '^(?:notice|warning): (?:mail delivery status|message [\\w-]+ delayed|could not send)',
  '退信|メールエラー|配信(?:エラー|不能)|配信(?:に)?失敗|送信(?:に)?失敗|配達不能|送達不能|недоставленн|non remis|no se puede entregar|não entregue',
])

/** Phrases in notifications of delays: delivery is still being tried. */
export const delayPhrases = anyOf([
  'this is a warning message only',
  'you do not need to re-?send',
  'no action is required on your part',
  'delivery attempts will continue',
  'will continue to (?:be )?(?:attempt|tr)',
  'will (?:keep|be) (?:trying|retried)',
  'has not yet been delivered',
  'has been delayed',
  'delivery[^\\n]{0,40}\\bdelayed',
  'delivery incomplete',
  'still trying',
  'will retry for',
  'gmail will retry',
  'warning: (?:could not send|message [\\w-]+ delayed)',
  'zustellung verzögert|wird weiterhin versucht',
])

/** Phrases of those who ask the sender to confirm a message before they take it. */
export const challengePhrases = anyOf([
  'please (?:confirm|verify) (?:that you|yourself|your (?:message|e-?mail|identity))',
  '(?:click|clicking|visit|visiting|follow|following)[^\\n]{0,40}(?:link|here|button|https?:)[^\\n]{0,80}(?:confirm|verify|deliver|release|approve|prove|authori[sz]e)',
  'one[- ]time (?:confirmation|verification|process)',
  'you are (?:not )?(?:a )?(?:human|real person)|(?:not|isn.t) (?:a )?(?:spammer|robot|machine)',
  'awaiting (?:your |sender )?(?:confirmation|verification)|challenge[- ]response',
])

/** Phrases in notifications of success. */
export const successPhrases = anyOf([
  'successfully (?:delivered|relayed|sent|received)|(?:delivered|relayed|received) successfully',
  '(?:was|were|has been|have been) (?:delivered to|delivered on|delivered at|received by|read by|read on|displayed|opened)',
  'delivery (?:to [^\\n]{1,200} )?(?:was )?(?:successful|succeeded|complete)',
  'your message was (?:read|displayed|delivered)\\b',
  '正常に配信|配信されました|開封|zugestellt wurde|wurde (?:erfolgreich )?zugestellt|a (?:bien )?été remis',
])

/** What mail systems notify of besides failure, delay and success: mail that is held, absence, thanks, warnings. */
export const otherNotices = anyOf([
  'quarantin|held (?:for|in|by|until)|on hold|(?:awaiting|pending) (?:review|approval|moderat)|moderator|approval',
  'out of (?:the )?office|on (?:vacation|leave|holiday)|\\babsen(?:t|ce)|i am away|abwesen|im urlaub|不在|休暇',
  'thank you|thanks for|we have received|has been received|received your|your (?:request|ticket|enquiry|inquiry|order|case)',
  'subscri|welcome to|digest|read receipt|gelesen|return receipt|disposition',
  'delay|still (?:trying|in the queue)|queued|warning|will be retried|try again|遅延|再送',
  'replaced|cleaned|disinfected|removed|stripped|almost full|nearly full|approaching',
])

/** The line with which the returned message begins. */
export const returnedMessageStart = new RegExp(
  [
    '^[ \\t]*[-*=_~]{2,}[ \\t]*(?:begin )?(?:below this line is|this is|enclosed is|included is|here is)[^\\n]{0,20} cop',
    '^[ \\t]*[-*=_~]{2,}[ \\t]*(?:the )?(?:header|body|text|copy|beginning)s?[^\\n]{0,12}(?:of|der|de)? ?[^\\n]{0,12}(?:original|ursprünglich|your|returned|message)[^\\n]*$',
    '^[ \\t]*[-*=_~]{2,}[ \\t]*(?:begin )?(?:original|unsent|returned|undelivered|bounced|forwarded|rejected|message)[ -]*(?:message|mail|header|text)s?[^\\n]*$',
    '^[ \\t]*(?:included is|below is|this is|enclosed is|attached is|following is|here is) (?:a copy|the (?:original|header))[^\\n]*$',
    '^[ \\t]*(?:the )?(?:original|undelivered|returned) (?:message|mail)(?: headers?)?(?: text)?(?: as)?(?: follows?)?[ .:]*$',
    '^[ \\t]*(?:message|original) headers?(?: follows?)?[ .:]*$',
    '^[ \\t]*original (?:mail|message) as follows',
    '^[ \\t]*[-*=_~]{2,}[ \\t]*(?:nachricht|kopie|kopf)[^\\n]*$',
    '^[ \\t]*[-*=_~]{2,}[ \\t]*(?:ursprüngliche|original)[ -]?nachricht[^\\n]*$',
    '^(?:return-path|received):[ \\t]*\\S',
  ].join('|'),
  'im',
)
