const address =
  /(?:"[^"\n]{1,64}"|[^\s<>()[\]:;,"]{1,64})@[\w\u0080-\uffff-]{1,63}(?:\.[\w\u0080-\uffff-]{1,63}){0,10}/gu
/** A server that the text quotes, with its IP address: `host spam-filter.dest.example[192.0.2.1] said`. */
const quotedServer = /\b(?:[\w-]{1,63}\.){1,10}[a-z]{2,24}\.?(?= ?[[(](?:\d|[0-9a-f]*:))/gi
/** What servers log about a transaction: `from=<a@x.test> to=<b@y.test> proto=ESMTP helo=<mx.x.test>`. */
const logFields = /\b(?:from|to|helo|proto|orig_to|client)=(?:<[^>\n]{0,320}>|[^\s;,<]{1,255})/gi
const hostName = /\b(?:[a-z0-9_-]{1,63}\.){1,10}[a-z]{2,24}\b/g

/** The text with `@` for each address and quoted server: words inside their names are no reason. */
export function maskAddresses(text: string): string {
  return text.replace(logFields, ' ').replace(address, '@').replace(quotedServer, '@')
}

/** The text with `@` for each address and host name. */
export function maskNames(text: string): string {
  return maskAddresses(text).replace(hostName, '@')
}
