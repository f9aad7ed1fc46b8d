/**
 * Makes the links of sanitized HTML say where they lead: the whole address in the title, and its host, as DNS knows it, in
 * `data-host`, which the document shows beside the link. A title that the sender gave would say what the sender likes.
 */
export function withVisibleTargets(html: string): string {
  return html.replace(/<a\s([^>]*)>/g, (tag, attributes: string) => {
    const href = /(?:^|\s)href="([^"]*)"/.exec(attributes)?.[1]
    if (href === undefined) return tag
    const others = attributes.replace(/(^|\s)(?:title|data-host)="[^"]*"/g, '$1').trim()
    const host = hostOf(href.replaceAll('&amp;', '&'))
    return `<a ${others} title="${href}"${host === undefined ? '' : ` data-host="${Bun.escapeHTML(host)}"`}>`
  })
}

/** Text as HTML, with links where it names http and https addresses. */
export function linkedText(text: string): string {
  let html = ''
  let at = 0
  for (const match of text.matchAll(/\bhttps?:\/\/[^\s<>"'`\p{Cc}\p{Cf}]{1,2000}/giu)) {
    const url = withoutTrailingPunctuation(match[0])
    const host = hostOf(url)
    if (host === undefined) continue
    html += Bun.escapeHTML(text.slice(at, match.index))
    const escaped = Bun.escapeHTML(url)
    html += `<a href="${escaped}" title="${escaped}" target="_blank" rel="noopener noreferrer nofollow">${escaped}</a>`
    at = match.index + url.length
  }
  return html + Bun.escapeHTML(text.slice(at))
}

/** A sentence goes on or ends after an address; a bracket belongs to it only where it was opened in it. */
function withoutTrailingPunctuation(url: string): string {
  let end = url.length
  for (; end > 0; end--) {
    const last = url.charAt(end - 1)
    const isUnopened = (open: string) => !url.slice(0, end - 1).includes(open)
    if (/[.,;:!?*_~]/.test(last) || (last === ')' && isUnopened('(')) || (last === ']' && isUnopened('['))) continue
    break
  }
  return url.slice(0, end)
}

/** In ASCII, so that no letter passes for another; undefined: it is no address of a host. */
function hostOf(url: string): string | undefined {
  try {
    const { protocol, hostname } = new URL(url)
    return protocol === 'mailto:' || protocol === 'tel:' || hostname === '' ? undefined : hostname
  } catch {
    return undefined
  }
}
