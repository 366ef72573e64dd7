// What the pages find in the browser besides its own: scripts that templates load, and events that they send. Only what
// static/js uses is declared, so that a misspelt attribute of a chart is an error.

declare namespace Plotly {
  type Cell = number | string | null;
  type Column = ArrayLike<Cell>;
  type Scale = [number, string][];
  interface Font { family?: string; size?: number; color?: string }
  interface Line { color?: string | string[]; width?: number; dash?: string; shape?: string }
  interface Title { text: string; font?: Font; standoff?: number }
  interface ColorBar { thickness: number; outlinewidth: number; tickfont: Font; title?: Title }
  interface Pattern { shape: string; bgcolor: string; fgcolor: string; size: number; solidity: number }
  interface Marker {
    symbol?: string | string[]; size?: number | number[]; color?: string | string[] | number[]; opacity?: number; line?: Line;
    pattern?: Pattern; cmin?: number; cmax?: number; reversescale?: boolean; colorscale?: Scale; showscale?: boolean; colorbar?: ColorBar;
  }
  interface ErrorBar {
    type?: string; visible?: boolean; symmetric?: boolean; array?: Column; arrayminus?: Column; color?: string; thickness?: number;
    width?: number;
  }
  interface Trace {
    type?: string; mode?: string; name?: string; x?: Column; y?: Column; z?: Column[]; text?: Column | string[][]; width?: number[];
    hoverinfo?: string; hovertemplate?: string; hoverongaps?: boolean; line?: Line; marker?: Marker; error_x?: ErrorBar;
    error_y?: ErrorBar; opacity?: number; fill?: string; fillcolor?: string; cliponaxis?: boolean; xaxis?: string; yaxis?: string;
    customdata?: number[]; textposition?: string; textfont?: Font; xgap?: number; ygap?: number; colorscale?: Scale; reversescale?: boolean; colorbar?: ColorBar;
  }
  interface Axis {
    title?: Title; range?: number[]; rangemode?: string; tickfont?: Font; gridcolor?: string; gridwidth?: number; linecolor?: string;
    linewidth?: number; showline?: boolean; ticks?: string; ticklen?: number; tickcolor?: string; zeroline?: boolean;
    fixedrange?: boolean; nticks?: number; separatethousands?: boolean; tick0?: number; dtick?: number; tickformat?: string; tickvals?: number[];
    ticktext?: string[]; tickangle?: number; showgrid?: boolean; showticklabels?: boolean; automargin?: boolean; anchor?: string;
    domain?: number[]; visible?: boolean;
  }
  interface Shape {
    type: string; layer?: string; xref?: string; yref?: string; x0: number; x1: number; y0: number; y1: number; line: Line;
    fillcolor?: string;
  }
  interface Annotation {
    text: string; x: number; y: number; showarrow: boolean; xref?: string; yref?: string; xanchor?: string; yanchor?: string;
    xshift?: number; yshift?: number; align?: string; font?: Font; bgcolor?: string; textangle?: number;
  }
  interface Margin { l: number; r: number; t: number; b: number }
  interface Layout {
    [axis: `${"x" | "y"}axis${number}`]: Axis;
    xaxis?: Axis; yaxis?: Axis; width?: number; height?: number; margin?: Margin; shapes?: Shape[]; annotations?: Annotation[];
    paper_bgcolor?: string; plot_bgcolor?: string; font?: Font; showlegend?: boolean; dragmode?: string | false; bargap?: number;
    hovermode?: string | false; hoverlabel?: { bgcolor: string; bordercolor: string; font: Font; align?: string };
  }
  interface Config {
    displayModeBar?: boolean; responsive?: boolean; scrollZoom?: boolean; doubleClick?: false; showTips?: boolean; staticPlot?: boolean;
  }
  /** What a chart was drawn into. */
  interface Element extends HTMLElement {
    on(event: "plotly_click", tell: (click: { points: { customdata?: unknown }[] }) => void): void;
    on(event: "plotly_afterplot", tell: () => void): void;
    removeAllListeners(event: string): void;
  }
  interface Library {
    react(place: HTMLElement, traces: Trace[], layout: Layout, config: Config): Promise<unknown>;
    newPlot(place: HTMLElement, traces: Trace[], layout: Layout, config: Config): Promise<unknown>;
    Plots: { resize(place: HTMLElement): void };
  }
}

interface Window {
  /** There once its script, which charts/plotly.js waits for, has loaded. */
  Plotly?: Plotly.Library;
  htmx: {
    trigger(place: Element | string, event: string): void;
    ajax(method: string, address: string, how: { target: Element; swap: string; select?: string; values?: Record<string, string> }): Promise<void>;
  };
  equipoiseTheme: { choice(): string; choose(value: string): void };
}

interface DocumentEventMap {
  "equipoise:theme": CustomEvent<{ theme: string }>;
  "toast": CustomEvent<{ text: string; problem?: boolean }>;
  "htmx:load": CustomEvent<{ elt: Element }>;
  "htmx:beforeSwap": CustomEvent<{ target: Element; requestConfig?: { elt: Element } }>;
  "htmx:afterSwap": CustomEvent;
  "htmx:afterSettle": CustomEvent;
  "htmx:beforeRequest": CustomEvent;
  "htmx:beforeSend": CustomEvent<{ xhr: XMLHttpRequest }>;
  "htmx:afterRequest": CustomEvent<{ successful: boolean; xhr: XMLHttpRequest }>;
  "equipoise:sent": Event;
  "htmx:sendError": CustomEvent;
  "htmx:timeout": CustomEvent;
  "htmx:responseError": CustomEvent<{ xhr: XMLHttpRequest }>;
}
