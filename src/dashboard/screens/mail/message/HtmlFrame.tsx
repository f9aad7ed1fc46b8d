import { linkTo } from '../../../api/client.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { mailStrings as strings } from '../strings.ts'

interface HtmlFrameProps {
  readonly messageId: string
  readonly hasPictures: boolean
}

/**
 * The HTML of a message: a document of its own, in which nothing runs and whose origin is none. Its height cannot be
 * measured from here, so it scrolls within.
 */
export function HtmlFrame({ messageId, hasPictures }: HtmlFrameProps) {
  const { api } = useOrganization()
  const url = linkTo(api, `/app/message/${messageId}/view`, hasPictures ? { remote: 'allow' } : {})
  return (
    <iframe
      title={strings.text}
      src={url}
      sandbox="allow-popups allow-popups-to-escape-sandbox"
      referrerPolicy="no-referrer"
      className="block h-[max(24rem,60vh)] w-full rounded-b-lg bg-white"
    />
  )
}
