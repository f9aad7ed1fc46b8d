import { strings } from '../strings.ts'

/** A line or a row of bars of a {@link Plot}. */
export interface Series {
  readonly name: string
  readonly values: readonly number[]
  /** `accent` is the one that matters; `quiet` stands behind it. */
  readonly tone: 'accent' | 'quiet' | 'bad'
}

interface PlotProps {
  /** What it shows, in a sentence. */
  readonly label: string
  /** A name for each value: an hour, a day. */
  readonly names: readonly string[]
  readonly series: readonly Series[]
  readonly kind?: 'bars' | 'lines'
  /** Writes a value in the table and the legend. */
  readonly format?: (value: number) => string
}

const width = 720
const height = 120

const fills = { accent: 'fill-accent', quiet: 'fill-line-strong', bad: 'fill-bad' }
const strokes = { accent: 'stroke-accent', quiet: 'stroke-faint', bad: 'stroke-bad' }
const dots = { accent: 'bg-accent', quiet: 'bg-line-strong', bad: 'bg-bad' }

/** A small plot, drawn by us; below it, closed, the same figures as a table. */
export function Plot({ label, names, series, kind = 'bars', format = String }: PlotProps) {
  const most = Math.max(1, ...series.flatMap(({ values }) => values))
  const slot = width / Math.max(1, names.length)
  const y = (value: number) => height - (value / most) * (height - 8)
  return (
    <figure className="min-w-0">
      <figcaption className="mb-2 flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-muted">
        <span className="sr-only">{label}</span>
        {series.map(({ name, tone, values }) => (
          <span key={name} className="inline-flex items-center gap-1.5">
            <span className={`size-2 rounded-full ${dots[tone]}`} aria-hidden="true" />
            {name}
            <span className="tabular font-medium text-ink">
              {format(values.reduce((sum, value) => sum + value, 0))}
            </span>
          </span>
        ))}
      </figcaption>
      <svg viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" className="h-28 w-full" aria-hidden="true">
        <line
          x1="0"
          y1={height - 0.5}
          x2={width}
          y2={height - 0.5}
          className="stroke-line"
          vectorEffect="non-scaling-stroke"
        />
        {series.map(({ name, values, tone }, position) =>
          kind === 'lines' ? (
            <polyline
              key={name}
              points={values.map((value, index) => `${(index + 0.5) * slot},${y(value)}`).join(' ')}
              className={`fill-none ${strokes[tone]}`}
              strokeWidth="1.5"
              strokeLinejoin="round"
              vectorEffect="non-scaling-stroke"
            />
          ) : (
            <g key={name} className={fills[tone]}>
              {values.map((value, index) => (
                <rect
                  key={names[index]}
                  x={index * slot + slot * (0.15 + (0.7 * position) / series.length)}
                  width={(slot * 0.7) / series.length}
                  y={y(value)}
                  height={value === 0 ? 0 : Math.max(2, height - y(value))}
                >
                  <title>{`${names[index]}: ${name} ${format(value)}`}</title>
                </rect>
              ))}
            </g>
          ),
        )}
      </svg>
      <details className="mt-1 text-sm text-muted">
        <summary className="w-fit rounded-sm text-xs text-faint hover:text-ink">{strings.dataTable}</summary>
        <div className="mt-1 max-h-60 overflow-auto">
          <table className="tabular w-full text-left" aria-label={label}>
            <thead>
              <tr>
                <td />
                {series.map(({ name }) => (
                  <th key={name} scope="col" className="font-medium">
                    {name}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {names.map((name, index) => (
                <tr key={name}>
                  <th scope="row" className="font-normal">
                    {name}
                  </th>
                  {series.map(({ name: of, values }) => (
                    <td key={of}>{format(values[index] ?? 0)}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </figure>
  )
}
