import { SafeText } from '../../../components/text/SafeText.tsx'
import { Status } from '../../../components/text/Status.tsx'
import { quarantineStrings as strings } from './strings.ts'

interface VerdictProps {
  readonly scan: string
  readonly signature: string | null
}

/** What the scanner said. */
export function Verdict({ scan, signature }: VerdictProps) {
  if (scan === 'infected')
    return (
      <Status tone="bad">
        <SafeText text={signature ?? scan} />
      </Status>
    )
  return <Status tone={scan === 'error' ? 'warn' : 'off'}>{scan === 'error' ? strings.notScanned : scan}</Status>
}
