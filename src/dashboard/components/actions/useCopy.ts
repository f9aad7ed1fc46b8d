import { useEffect, useState } from 'react'

const shownMs = 2_000

/** Copies text to the clipboard. `isCopied` is true for two seconds after it. */
export function useCopy(): { readonly isCopied: boolean; readonly copy: (text: string) => void } {
  const [copies, setCopies] = useState(0)
  useEffect(() => {
    if (copies === 0) return
    const timer = setTimeout(() => setCopies(0), shownMs)
    return () => clearTimeout(timer)
  }, [copies])
  const copy = (text: string) => void writeText(text).then(() => setCopies(count => count + 1))
  return { isCopied: copies > 0, copy }
}

/** `navigator.clipboard` is absent on plain http, except on localhost. */
async function writeText(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text)
  const area = document.createElement('textarea')
  area.value = text
  document.body.append(area)
  area.select()
  document.execCommand('copy')
  area.remove()
}
