/** Why a message is in its folder, and what each check found; `of` is a domain. */
export const whyStrings = {
  reasons: {
    accepted: 'It came to one of your mailboxes, and nothing spoke against it.',
    auto_reply: 'It is an automatic reply, and nothing spoke against it. It is not counted as an answer to your email.',
    report: 'It is a report on an email of yours: what it says stands with that email.',
    dmarc_fail:
      'The domain in From asks, by its DMARC policy, not to trust mail that fails its checks, and this message fails them.',
    spf_fail:
      'The server that sent it is not among those that the sender’s domain allows (SPF), no signature makes up for it, and the domain has no DMARC policy.',
    from_unchecked: 'Its From has no domain that could be checked, so nobody can tell who sent it.',
    sender_blocked: 'Your organization blocks its sender.',
    spam_filter: 'The spam filter takes it for spam. Move it to the inbox if it is none: the filter learns from that.',
    infected: 'The virus scanner found something in it. It cannot be downloaded; an operator can look at it.',
    unscanned:
      'It could not be scanned for viruses yet. It is scanned again, and moves by itself once nothing is found.',
    released: 'An operator released it from quarantine.',
  },
  otherReason: (reason: string) => `The server gave the reason “${reason}”.`,
  moved: (folder: string) => `It was filed in ${folder} first, and moved here later.`,
  otherResult: (result: string) => `The result is “${result}”.`,
  temporary: 'The DNS of the sender did not answer at the time, so it says nothing.',
  malformed: 'What the sender’s domain publishes is malformed, so it says nothing.',
  spf: {
    name: 'SPF',
    of: 'the sender’s domain',
    pass: (of: string) => `${of} allows the server that sent it.`,
    passOther: (of: string) => `${of} allows the server that sent it, but is another domain than the one in From.`,
    fail: (of: string) => `${of} does not allow the server that sent it. Forwarded mail fails this too.`,
    softfail: (of: string) => `${of} probably does not allow the server that sent it, and does not say so firmly.`,
    neutral: (of: string) => `${of} says nothing about the server that sent it.`,
    none: (of: string) => `${of} publishes no list of its servers.`,
  },
  dkim: {
    name: 'DKIM',
    of: 'the signing domain',
    pass: (of: string) => `A valid signature of ${of}: it was not changed on its way.`,
    passOther: (of: string) => `A valid signature of ${of}, which is another domain than the one in From.`,
    fail: (of: string) => `The signature of ${of} does not fit: the message was changed, or it was not signed by it.`,
    unusable: (of: string) => `The signature of ${of} could not be used.`,
    none: 'It carries no signature.',
  },
  dmarc: {
    name: 'DMARC',
    of: 'the domain in From',
    pass: (of: string) => `It really comes from ${of}.`,
    fail: (of: string) => `Neither SPF nor DKIM shows that it comes from ${of}.`,
    none: (of: string) => `${of} does not say what to do with mail that fails the checks.`,
  },
  spam: {
    name: 'Spam filter',
    counted: (score: number, required: number, symbols: string) =>
      `It gave ${score} points, of ${required} that make spam${symbols === '' ? '' : `: ${symbols}`}.`,
  },
  scan: {
    name: 'Scan',
    clean: 'The virus scanner found nothing.',
    sender_blocked: 'Your organization blocks its sender.',
    spam_filter: 'The spam filter takes it for spam. Move it to the inbox if it is none: the filter learns from that.',
    infected: 'The virus scanner found something.',
    error: 'The virus scanner was not available, or could not read it.',
    skipped: 'This server has no virus scanner, or an operator released it.',
  },
} as const
