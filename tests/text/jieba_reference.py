#!/usr/bin/env python3
"""Writes jieba_reference.inc: Chinese sentences as Python's jieba 0.42.1 cuts them.

    python -m venv /tmp/venv && /tmp/venv/bin/pip install jieba==0.42.1
    /tmp/venv/bin/python tests/text/jieba_reference.py > tests/text/jieba_reference.inc
"""

import json
import logging

import jieba

SENTENCES = [
    "今天天气很好，我们一起去公园散步吧！",
    "你吃饭了吗？我还没有吃。",
    "这个问题太难了，我不知道怎么回答。",
    "请问去火车站怎么走",
    "我明天早上八点要开会",
    "他是一个很有名的音乐家",
    "多个显卡同时训练一个模型，可以节省很多时间。",
    "老师在图书馆里看书，学生们在操场上踢足球",
    "妈妈做的红烧牛肉非常好吃",
    "昨天晚上我梦见自己变成了一只蝴蝶",
    "上海的地铁比北京的地铁新吗",
    "Hello，我叫Tom，今年20岁",
    "谢谢你的帮助",
    "张晓燕和李建国坐飞机去了广州",
]


def main():
    jieba.setLogLevel(logging.ERROR)
    print("// Made by jieba_reference.py.")
    print("const std::vector<std::vector<std::string>> kJiebaCuts = {")
    for sentence in SENTENCES:
        words = ", ".join(json.dumps(word, ensure_ascii=False) for word in jieba.cut(sentence))
        print(f"    {{{words}}},")
    print("};")


if __name__ == "__main__":
    main()
