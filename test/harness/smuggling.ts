const smuggled = 'MAIL FROM:<evil@x.test>\r\nRCPT TO:<victim@y.test>\r\nDATA\r\nSubject: smuggled\r\n\r\nevil\r\n.\r\n'

/** Byte sequences that end a message for some servers. RFC 5321 §4.1.1.4 has one alone. */
export const ends = [
  '\n.\n',
  '\n.\r\n',
  '\n.\r',
  '\r.\r',
  '\r.\n',
  '\r.\r\n',
  '\r\n.\n',
  '\r\n.\r',
  '\r\n.\r\n',
  '\r\r\n.\r\r\n',
  '\n\r\n.\r\n',
  '\n\n.\n\n',
  '\r\n..\r\n',
  '\r\n.\r\n.\r\n',
  '\r\n. \r\n',
  '\r\n.\t\r\n',
  '\r\n.\u000b\r\n',
  '\r\n.\u000c\r\n',
  '\r\n\u0085.\u0085\r\n',
  '\u2028.\u2028',
  '\u2029.\u2029',
] as const
export const endsWithNul = ['\r\n\0.\r\n', '\r\n.\0\r\n', '\0\n.\n\0', '\r\0\n.\r\0\n'] as const

/** A text in which what comes after `end` is a second message for a server that takes it for the end. */
export const bodyWith = (end: string) => `first${end}${smuggled}last`
