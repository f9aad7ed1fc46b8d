import { strings } from '../strings.ts'

const units = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const
const whole = new Intl.NumberFormat('en')

/** A number of bytes: "4.2 MB"; its title has all digits. */
export function Bytes({ value }: { readonly value: number }) {
  return (
    <span className="tabular whitespace-nowrap" title={`${whole.format(value)} bytes`}>
      {formatBytes(value)}
    </span>
  )
}

/** Powers of 1,000, as disks and mail servers count. */
export function formatBytes(value: number): string {
  const power = Math.min(units.length - 1, value < 1 ? 0 : Math.floor(Math.log10(value) / 3))
  const amount = value / 1000 ** power
  const format = { style: 'unit', unit: units[power] ?? 'byte', unitDisplay: 'short' } as const
  return new Intl.NumberFormat('en', { ...format, maximumFractionDigits: amount < 10 && power > 0 ? 1 : 0 }).format(
    amount,
  )
}

interface CountProps {
  readonly value: number
  /** Counting stopped here: from this on it reads "10,000+". */
  readonly most?: number
}

/** A count with separators. */
export function Count({ value, most }: CountProps) {
  const text = most !== undefined && value >= most ? strings.andMore(whole.format(most)) : whole.format(value)
  return <span className="tabular">{text}</span>
}
