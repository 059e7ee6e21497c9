/** The style sheet of the reference page. No url(), no @import: it loads nothing. */
export const REFERENCE_STYLE = `
:root{--bg:#fff;--soft:#f6f7f9;--line:#e3e5ea;--text:#1b1f27;--muted:#5c6470;--accent:#4338ca;--accent-soft:#eef0ff;--code:#f1f2f6;
--get:#1d4ed8;--post:#15803d;--patch:#a16207;--delete:#b91c1c;--warn:#a16207;--bad:#b91c1c;--good:#15803d;
--panel:#171a23;--panel-line:#2a2f3d;--panel-text:#dfe3ee;--panel-muted:#98a1b5;--k:#9ecbff;--s:#a5e3b4;--v:#f7c98b;
--sans:ui-sans-serif,system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;--mono:ui-monospace,SFMono-Regular,"SF Mono",Menlo,Consolas,"Liberation Mono",monospace}
@media (prefers-color-scheme:dark){:root{--bg:#0f1117;--soft:#161922;--line:#282d39;--text:#e4e7ee;--muted:#9aa3b3;--accent:#a5b4fc;--accent-soft:#1f2340;--code:#1d212c;
--get:#7fb0ff;--post:#6fd78f;--patch:#e8bd55;--delete:#ff8f8f;--warn:#e8bd55;--bad:#ff8f8f;--good:#6fd78f;--panel:#151821;--panel-line:#282d39}}
*{box-sizing:border-box}
html{scroll-padding-top:24px;-webkit-text-size-adjust:100%}
body{margin:0;background:var(--bg);color:var(--text);font:16px/1.6 var(--sans);display:grid;grid-template-columns:296px minmax(0,1fr);grid-template-rows:auto 1fr}
a{color:var(--accent);text-decoration:none}a:hover{text-decoration:underline}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px;border-radius:4px}
p{margin:.35em 0}h1,h2,h3,h4{line-height:1.25;margin:0;letter-spacing:-.011em}
code,pre{font-family:var(--mono);font-size:.875em}
p code,td code,li>code,.limits code,.values code{background:var(--code);border-radius:4px;padding:.1em .35em}
ul{list-style:none;margin:0;padding:0}
.skip{position:absolute;left:-9999px}.skip:focus{left:12px;top:12px;background:var(--bg);padding:8px 12px;z-index:9}
.bar{grid-column:1;position:sticky;top:0;display:flex;align-items:center;gap:10px;padding:18px 20px 14px;background:var(--soft);border-right:1px solid var(--line)}
.brand{display:flex;align-items:center;gap:10px;font-weight:650;font-size:17px;color:var(--text)}.brand:hover{text-decoration:none}
.version{color:var(--muted);font:12px var(--mono);border:1px solid var(--line);border-radius:99px;padding:1px 8px}
.side{scrollbar-width:thin;grid-column:1;position:sticky;top:60px;height:calc(100vh - 60px);overflow:auto;overscroll-behavior:contain;padding:4px 12px 32px;background:var(--soft);border-right:1px solid var(--line);font-size:14px}
.contents{display:none}
nav h2{font-size:11.5px;letter-spacing:.07em;text-transform:uppercase;font-weight:650;margin:20px 8px 4px}nav h2 a{color:var(--muted)}
nav li a{display:flex;align-items:center;gap:8px;padding:4px 8px;border-radius:6px;color:var(--text);overflow:hidden}
nav li a:hover{background:var(--accent-soft);text-decoration:none}nav .top{margin-top:10px}
nav .path{font:12.5px var(--mono);white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
nav .method{flex:0 0 44px;font-size:10.5px;padding:0;border:0;background:none;text-align:left}
main{grid-column:2;grid-row:1/3;min-width:0;padding:36px 44px 96px;max-width:1480px}
.chapter{padding-top:20px;margin-bottom:56px}.chapter>h2{font-size:26px;font-weight:680}h1{font-size:34px;font-weight:720}
.intro{max-width:780px}.intro .lead{font-size:19px}.lead{color:var(--muted);max-width:760px}
.operation{display:grid;grid-template-columns:minmax(0,1fr) minmax(340px,42%);gap:8px 40px;padding:36px 0;border-top:1px solid var(--line)}
.lead+.operation{border-top:0;padding-top:24px}
.operation h3,.schema h3{font-size:19px;font-weight:650}.self{color:inherit}
.self:hover::after{content:" #";color:var(--muted)}
.endpoint{display:flex;flex-wrap:wrap;align-items:center;gap:8px;margin:10px 0 4px;font-size:15px}
.endpoint>code{overflow-wrap:anywhere}.endpoint var{font-style:normal;color:var(--accent)}
.method{font:700 11.5px var(--mono);border-radius:5px;padding:2px 7px;color:var(--m);background:color-mix(in srgb,var(--m) 12%,transparent);--m:var(--muted)}
.get{--m:var(--get)}.post{--m:var(--post)}.patch{--m:var(--patch)}.delete{--m:var(--delete)}
.flag{font-size:11.5px;color:var(--muted);border:1px solid var(--line);border-radius:99px;padding:0 8px;white-space:nowrap}
.flag.required{color:var(--bad);border:0;padding:0 2px;font-weight:600}.flag.deprecated{color:var(--warn);border-color:currentColor}
.flag.key.management,.flag.key.inference{color:var(--accent);background:var(--accent-soft);border-color:transparent}
.part{margin-top:26px}.part h4{font-size:13px;text-transform:uppercase;letter-spacing:.05em;color:var(--muted);padding-bottom:6px;border-bottom:1px solid var(--line)}
.part h4 .type{text-transform:none;letter-spacing:0;font-weight:500;margin-left:6px}
.fields>li{padding:10px 0;border-bottom:1px solid var(--line);font-size:14.5px}.fields>li:last-child{border-bottom:0}
.fields p,.note p,.answer p{color:var(--muted);margin:.2em 0}
.fields dfn{font:650 .9em var(--mono);color:var(--text);overflow-wrap:anywhere}.type{font:12.5px var(--mono);color:var(--muted)}
.limits{display:flex;flex-wrap:wrap;gap:2px 14px;font-size:13px;color:var(--muted);margin-top:2px}
.limits code,.values code{font-size:12px;overflow-wrap:anywhere}.limits li{min-width:0}.limits details{display:inline-block;vertical-align:top;margin:0}.limits summary{padding:0}.values{line-height:1.9}
details{margin-top:4px}summary{cursor:pointer;color:var(--accent);font-size:13.5px;padding:2px 0;width:fit-content;max-width:100%}
details>.fields,details>.variants,details>.shape{border-left:2px solid var(--line);padding-left:14px;margin:4px 0 6px 4px}
details.more{margin-top:8px}details.more>summary{font-weight:600;padding:8px 0}details.more>.fields{border:0;padding:0;margin:0;border-top:1px solid var(--line)}
.variant{padding:4px 0;font-size:14px}.variant code{overflow-wrap:anywhere}
.answer{padding:10px 0;font-size:14.5px}.answer+.answer{border-top:1px solid var(--line)}.answer>.head,.error-answer>.head{display:flex;gap:10px;align-items:baseline}
.note{display:flex;gap:10px;align-items:baseline;margin-top:4px}.note>code{flex:none;background:var(--code);border-radius:4px;padding:.1em .35em}
.status{font:700 12px var(--mono);color:var(--c);background:color-mix(in srgb,var(--c) 12%,transparent);border-radius:5px;padding:2px 6px;--c:var(--muted)}
.s2{--c:var(--good)}.s4{--c:var(--warn)}.s5{--c:var(--bad)}
table{border-collapse:collapse;width:100%;font-size:14px}th{text-align:left;font-weight:600;color:var(--muted);font-size:12.5px}
th,td{padding:7px 12px 7px 0;border-bottom:1px solid var(--line);vertical-align:top}td code{font-size:12px;white-space:nowrap}
.errors td:last-child{line-height:1.9}.errors td:last-child{width:42%}.scroll{overflow-x:auto;margin-top:14px}
.examples{min-width:0}.examples>.code:first-child{margin-top:0}
@media (min-width:1180px){.examples{position:sticky;top:24px;align-self:start;max-height:calc(100vh - 48px);overflow:auto;border-radius:10px}}
.code{margin:14px 0 0;background:var(--panel);color:var(--panel-text);border:1px solid var(--panel-line);border-radius:10px;overflow:hidden}
figcaption{font-size:12px;color:var(--panel-muted);padding:7px 14px;border-bottom:1px solid var(--panel-line)}
pre{margin:0;padding:12px 14px;overflow:auto;max-height:420px;font-size:12.8px;line-height:1.55;tab-size:2}pre code{font-size:inherit}
.command pre{white-space:pre-wrap;overflow-wrap:anywhere}.command pre code{user-select:all}
details>pre{background:var(--panel);color:var(--panel-text);border-radius:8px;margin:6px 0 8px}
pre :is(i,s,u){font:inherit;text-decoration:none}pre i{color:var(--k)}pre s{color:var(--s)}pre u{color:var(--v)}
.surface{margin-top:36px}.surface>h3{font-size:19px;margin-bottom:6px}
.error-answer{padding:10px 0;border-bottom:1px solid var(--line)}.error-answer details{margin-left:46px}.error-answer .head p{flex:1}
.error-answer summary .summary{color:var(--muted)}
.index{columns:200px;column-gap:24px;margin:14px 0 24px;font:13px/2 var(--mono)}.index a{overflow-wrap:anywhere}
.schema{padding:24px 0 10px;border-top:1px solid var(--line);max-width:820px}.schema h3{font-family:var(--mono);font-size:16px}
.types tr:target{background:var(--accent-soft)}
.error-answer:target,.schema:target>h3{background:var(--accent-soft);box-shadow:0 0 0 8px var(--accent-soft);border-radius:2px}
.up{display:none}
@media (max-width:1179px){.operation{grid-template-columns:minmax(0,1fr)}.examples{margin-top:16px}}
@media (max-width:860px){
body{display:block;font-size:15.5px}html{scroll-padding-top:68px}
.bar{top:0;z-index:5;padding:12px 16px;border-right:0;border-bottom:1px solid var(--line)}
.side{display:none}.contents{display:block;margin:0;border-bottom:1px solid var(--line);background:var(--soft)}
.contents>summary{width:100%;padding:12px 16px;font-weight:600;font-size:15px}.contents nav{padding:0 8px 16px}nav li a{padding:8px}
main{padding:12px 16px 80px}h1{font-size:27px}.chapter>h2{font-size:23px}.operation{padding:28px 0}
.note{display:block}.error-answer details{margin-left:0}.error-answer>.head{flex-wrap:wrap}.error-answer .head p{flex:1 1 60%}
.errors td:first-child{padding-right:8px}th,td{padding-right:8px}.part{margin-top:22px}
.errors thead{display:none}.errors tr{display:grid;grid-template-columns:52px minmax(0,1fr);border-bottom:1px solid var(--line);padding:4px 0}.errors td{border:0;padding:4px 0}.errors td:last-child{grid-column:2;width:auto}
.up{display:grid;place-items:center;position:fixed;right:14px;bottom:14px;width:44px;height:44px;border-radius:50%;background:var(--panel);color:var(--panel-text);border:1px solid var(--panel-line);font-size:18px}}
@media print{.side,.contents,.up,.examples{display:none}body,.operation{display:block}}
`
