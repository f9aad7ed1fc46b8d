import { Fingerprint } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../components/actions/Button.tsx'

interface PasskeyButtonProps {
  readonly label: string
  /** Presents the passkey. */
  readonly onPress: () => Promise<void>
}

/** Opens the browser's dialog of passkeys. */
export function PasskeyButton({ label, onPress }: PasskeyButtonProps) {
  const [isBusy, setBusy] = useState(false)
  const press = async () => {
    setBusy(true)
    await onPress()
    setBusy(false)
  }
  return (
    <Button icon={<Fingerprint />} isBusy={isBusy} onClick={() => void press()} className="w-full">
      {label}
    </Button>
  )
}
