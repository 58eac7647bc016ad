"""Modules that libraries load when they are first used: there would be nothing to load them from.

Some are imported inside functions of the standard library, some by the interpreter itself, and
encodings by their names.
"""

# ruff: noqa: F401

import _ast_unparse
import _pylong
import _strptime
import email.generator
import encodings.ascii
import encodings.base64_codec
import encodings.big5
import encodings.charmap
import encodings.cp437
import encodings.cp850
import encodings.cp866
import encodings.cp932
import encodings.cp1250
import encodings.cp1251
import encodings.cp1252
import encodings.cp1253
import encodings.cp1254
import encodings.cp1255
import encodings.cp1256
import encodings.cp1257
import encodings.cp1258
import encodings.euc_jp
import encodings.euc_kr
import encodings.gb18030
import encodings.gb2312
import encodings.gbk
import encodings.hex_codec
import encodings.idna
import encodings.iso2022_jp
import encodings.iso8859_1
import encodings.iso8859_2
import encodings.iso8859_5
import encodings.iso8859_7
import encodings.iso8859_9
import encodings.iso8859_15
import encodings.koi8_r
import encodings.koi8_u
import encodings.latin_1
import encodings.mac_roman
import encodings.punycode
import encodings.quopri_codec
import encodings.raw_unicode_escape
import encodings.rot_13
import encodings.shift_jis
import encodings.unicode_escape
import encodings.utf_7
import encodings.utf_8
import encodings.utf_8_sig
import encodings.utf_16
import encodings.utf_16_be
import encodings.utf_16_le
import encodings.utf_32
import encodings.utf_32_be
import encodings.utf_32_le
import encodings.uu_codec
import encodings.zlib_codec
import http.cookiejar
import xml.dom.expatbuilder
import xml.sax.expatreader
