"""The libraries a program can import, beside gg's own: all that is imported here, and no more.

The guest is made with these modules loaded; there is no file system to load others from. Each
heading is a group of the documentation. Left out are modules that need what a guest does not have
(threads that run at once, processes, a display) or that would be of no use without it.
"""

# ruff: noqa: F401

# --- Text ---
import codecs
import difflib
import fnmatch
import html
import html.parser
import locale
import pprint
import re
import reprlib
import shlex
import string
import string.templatelib
import stringprep
import textwrap
import tokenize
import unicodedata

# --- Data and formats ---
import base64
import binascii
import configparser
import csv
import json
import pickle
import plistlib
import quopri
import struct
import tomllib
import urllib.parse
import urllib.request
import xml.dom.minidom
import xml.etree.ElementTree
import xml.sax
import xml.sax.saxutils

# --- Types and collections ---
import abc
import array
import bisect
import collections
import collections.abc
import copy
import dataclasses
import enum
import graphlib
import heapq
import queue
import types
import typing
import weakref

# --- Numbers and dates ---
import calendar
import cmath
import colorsys
import datetime
import decimal
import fractions
import math
import numbers
import random
import secrets
import statistics
import time
import zoneinfo

# --- Functions and control ---
import atexit
import contextlib
import contextvars
import functools
import itertools
import operator
import sched
import threading
import warnings

# --- Files ---
import errno
import fileinput
import filecmp
import glob
import gzip
import io
import mimetypes
import os
import os.path
import pathlib
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib

# --- Hashes and identifiers ---
import hashlib
import hmac
import uuid

# --- Network ---
import email
import email.message
import email.parser
import email.policy
import http
import http.client
import http.cookies
import ipaddress
import select
import selectors
import socket

# --- Code ---
import ast
import builtins
import code
import codeop
import dis
import importlib
import importlib.util
import inspect
import keyword
import linecache
import logging
import logging.handlers
import argparse
import getopt
import gettext
import optparse
import platform
import symtable
import sys
import sysconfig
import timeit
import token
import traceback

# --- Packages ---
import tomli_w
import yaml
