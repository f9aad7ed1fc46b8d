import { useEffect, useRef } from 'react'

interface PreviewFrameProps {
  /** What it shows, for screen readers. */
  readonly title: string
  readonly html: string
  readonly className?: string
}

/**
 * What a template renders to, in a document of its own that runs nothing and loads nothing: see the policy of its frame on the
 * server (sending/templates/preview-frame.ts). It is drawn anew when the HTML changes.
 */
export function PreviewFrame({ title, html, className }: PreviewFrameProps) {
  const frame = useRef<HTMLIFrameElement>(null)
  const latest = useRef(html)
  useEffect(() => {
    latest.current = html
    const post = () => frame.current?.contentWindow?.postMessage(latest.current, '*')
    const onMessage = (event: MessageEvent) => {
      if (event.source === frame.current?.contentWindow && event.data === 'ready') post()
    }
    addEventListener('message', onMessage)
    post()
    return () => removeEventListener('message', onMessage)
  }, [html])
  return (
    <iframe
      ref={frame}
      title={title}
      src="/app/template/preview/view"
      sandbox="allow-scripts"
      // A mail is drawn on white, whatever the theme.
      className={`block w-full border-0 bg-white ${className ?? 'h-96'}`}
    />
  )
}
